import { DAY_MS, MINUTE_MS } from '../../../lib/clock.js';
import type { LegacyProvider } from '../../../services/migration/legacy-prices.data.js';
import { csvRows } from './csv.rules.js';
import { type ExportRecord, exportRecords } from './usage-export-json.rules.js';

/** Size in characters or bytes of the largest export that a page reads without making its visitor wait. */
export const LARGEST_EXPORT = 20_000_000;
/** More models than anybody uses: the column holds something else. */
const MOST_MODELS = 1_000;
const LONGEST_NAME = 200;

/** The text of a file: UTF-8, or UTF-16 with a byte order mark, as PowerShell writes it. */
export const exportText = (bytes: ArrayBuffer): string =>
  new TextDecoder(new Uint8Array(bytes)[0] === 0xff ? 'utf-16' : undefined).decode(bytes);

/** Usage of one model in an export. */
export interface ExportedModel {
  model: string;
  input: number;
  cached: number;
  output: number;
}

/** Usage over the whole period of an export. */
export interface UsageExport {
  provider: LegacyProvider;
  /** Most used first. */
  models: ExportedModel[];
  /** Number of UTC days from the first to the last, inclusive. */
  days: number;
  /** The busiest interval of the export: its calls and length. Undefined if the export doesn't count calls. */
  busiest?: { requests: number; minutes: number };
}

/**
 * Names of columns and members, in order of preference. Those of `input` exclude cached tokens where `plus` adds
 * them.
 */
const NAMES = {
  model: ['model', 'model_version', 'model_permaslug', 'snapshot_id'],
  time: ['start_time', 'start_time_iso', 'starting_at', 'usage_date_utc', 'created_at', 'date', 'timestamp'],
  end: ['end_time', 'end_time_iso', 'ending_at'],
  requests: ['num_model_requests', 'n_requests', 'requests', 'request_count'],
  input: ['input_tokens', 'n_context_tokens_total', 'prompt_tokens', 'tokens_prompt'],
  inputUncached: ['uncached_input_tokens', 'usage_input_tokens_no_cache'],
  inputWritten: [
    'usage_input_tokens_cache_write_5m',
    'usage_input_tokens_cache_write_1h',
    'ephemeral_5m_input_tokens',
    'ephemeral_1h_input_tokens',
    'cache_creation_input_tokens',
  ],
  cached: [
    'input_cached_tokens',
    'cache_read_input_tokens',
    'usage_input_tokens_cache_read',
    'tokens_cached',
    'n_cached_context_tokens_total',
  ],
  output: [
    'output_tokens',
    'usage_output_tokens',
    'n_generated_tokens_total',
    'completion_tokens',
    'tokens_completion',
  ],
} as const;

const textOf = (record: ExportRecord, names: readonly string[]): string =>
  names.map((name) => record[name]).find(Boolean) ?? '';
/**
 * Commas that don't separate thousands, and `1.234`, which is more than a thousand in much of the world and little
 * more than one elsewhere.
 */
const UNCLEAR = /,(?!\d{3}(?!\d)|\d\d,)|^[^.]*\.[^,]*,|^[1-9]\d{0,2}\.\d{3}$/;
/** The count in the first of these columns; 0 without one, NaN if it is ambiguous. */
const numberOf = (record: ExportRecord, names: readonly string[]): number => {
  const text = textOf(record, names).replace(/[\s_’']/g, '');
  if (!/\d/.test(text)) return 0;
  const value = UNCLEAR.test(text) ? Number.NaN : Math.round(Number(text.replaceAll(',', '')));
  return Math.min(Math.max(value, 0), Number.MAX_SAFE_INTEGER);
};
const sumOf = (record: ExportRecord, names: readonly string[]): number =>
  names.reduce((sum, name) => sum + numberOf(record, [name]), 0);

const MS_FROM = 1e11;
/**
 * Milliseconds of a time given in seconds, milliseconds or text; undefined if it is invalid. UTC unless it has an
 * offset.
 */
function timeMs(text: string): number | undefined {
  if (/^\d{9,16}(?:\.\d+)?$/.test(text)) return Number(text) * (Number(text) < MS_FROM ? 1_000 : 1);
  // `30.11.2025`, as spreadsheets write dates in much of Europe.
  const ordered = text.replace(/^(\d+)\.(\d+)\.(\d{4})/, '$3-$2-$1');
  const isPlain = /^\d{4}-\d\d-\d\d[T ][\d:.]+$/.test(ordered);
  const time = Date.parse(isPlain ? `${ordered.replace(' ', 'T')}Z` : ordered);
  return Number.isNaN(time) ? undefined : time;
}

/** End of the period that a line covers, exclusive; undefined if the line has none. */
function endMs(line: ExportRecord): number | undefined {
  const time = textOf(line, NAMES.time);
  // A month, `2025-11`: ends when the next one begins, which is how `Date.UTC` counts it.
  if (/^\d{4}-\d\d$/.test(time)) return Date.UTC(Number(time.slice(0, 4)), Number(time.slice(5)));
  return timeMs(textOf(line, NAMES.end));
}

function providerOf(record: ExportRecord): LegacyProvider {
  const has = (...names: string[]): boolean => names.some((name) => name in record);
  if (has('usage_input_tokens_no_cache', 'uncached_input_tokens', 'model_version')) return 'anthropic';
  if (has('tokens_prompt', 'model_permaslug', 'prompt_tokens')) return 'openrouter';
  return 'openai';
}

/** Calls by the interval in which they are counted; single calls by minute. */
function busiestOf(records: readonly ExportRecord[]): UsageExport['busiest'] {
  const counted = records.some((record) => textOf(record, NAMES.requests) !== '');
  const isSingle = !counted && records.some((record) => 'generation_id' in record);
  if (!counted && !isSingle) return undefined;
  const buckets = new Map<number, number>();
  let lengthMs = isSingle ? MINUTE_MS : undefined;
  for (const record of records) {
    const start = timeMs(textOf(record, NAMES.time));
    if (start === undefined) continue;
    const end = endMs(record);
    if (!isSingle && end !== undefined && end > start) lengthMs = Math.min(lengthMs ?? end, end - start);
    const at = isSingle ? Math.floor(start / MINUTE_MS) : start;
    buckets.set(at, (buckets.get(at) ?? 0) + (isSingle ? 1 : numberOf(record, NAMES.requests)));
  }
  const requests = [...buckets.values()].reduce((most, one) => Math.max(most, one), 0);
  return requests > 0 ? { requests, minutes: Math.max(1, (lengthMs ?? DAY_MS) / MINUTE_MS) } : undefined;
}

function recordsOf(text: string): ExportRecord[] {
  // Also removes a byte order mark.
  const trimmed = text.trim();
  if (/^[[{]/.test(trimmed)) return exportRecords(trimmed);
  const [head = [], ...rows] = csvRows(trimmed);
  const names = head.map((name) => name.trim().toLowerCase().replaceAll(' ', '_'));
  return rows.map((row) => Object.fromEntries(names.map((name, i) => [name, row[i]?.trim() ?? ''])));
}

/** Number of UTC days that the lines cover, inclusive; 30 if no line has a time. */
function daysOf(lines: readonly ExportRecord[]): number {
  let first = Number.POSITIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;
  for (const line of lines) {
    const start = timeMs(textOf(line, NAMES.time));
    if (start === undefined) continue;
    first = Math.min(first, start);
    last = Math.max(last, start, (endMs(line) ?? 0) - 1);
  }
  return last < first ? 30 : Math.floor(last / DAY_MS) - Math.floor(first / DAY_MS) + 1;
}

/**
 * Reads a usage export of OpenAI, Anthropic or OpenRouter, as CSV or as the JSON of their usage APIs.
 * @returns undefined if the text is no such export, or has unreadable counts.
 */
export function readUsageExport(text: string): UsageExport | undefined {
  const lines = recordsOf(text);
  // Days without usage have a line without a model.
  const records = lines.filter((line) => textOf(line, NAMES.model) !== '');
  const models = new Map<string, ExportedModel>();
  for (const record of records) {
    const name = textOf(record, NAMES.model).slice(0, LONGEST_NAME);
    const cached = numberOf(record, NAMES.cached);
    const whole = numberOf(record, NAMES.input);
    // Some exports count cached input separately, others within the input.
    const input = numberOf(record, NAMES.inputUncached) + sumOf(record, NAMES.inputWritten) + cached;
    const isApart = NAMES.inputUncached.some((one) => one in record);
    const sum = models.get(name) ?? { model: name, input: 0, cached: 0, output: 0 };
    sum.input += isApart ? input : whole;
    sum.cached += isApart ? cached : Math.min(cached, whole);
    sum.output += numberOf(record, NAMES.output);
    models.set(name, sum);
  }
  const used = [...models.values()].filter(({ input, output }) => input + output !== 0);
  const isClear = used.every(({ input, cached, output }) => input + cached + output > 0);
  if (!isClear || used.length === 0 || used.length > MOST_MODELS) return undefined;
  const busiest = busiestOf(records);
  return {
    provider: providerOf(records[0]!),
    models: used.toSorted((a, b) => b.input + b.output - a.input - a.output),
    days: daysOf(lines),
    ...(busiest && { busiest }),
  };
}

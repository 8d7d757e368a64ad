import type { Member } from '../../lib/json-scan.js';
import { type AllowedFields, droppedFieldsHeader, passes } from './body-fields.js';
import { type Reasoning, reasoningOf } from './reasoning.js';
import { TEMPLATE_ARGUMENTS, type TemplateArguments, templateArguments } from './template-arguments.js';

/** Offsets of a value's first byte and just past it. */
export interface Place {
  start: number;
  end: number;
}

/** A body for the upstream. */
export interface ForwardedBody {
  /** Members that pass. */
  kept: Member[];
  bytes: Buffer;
  /** Place of the model's name in `bytes`; meaningless for a body without a model. */
  modelAt: Place;
  /** Names of dropped members, as the value of a header; undefined if none was dropped. */
  dropped: string | undefined;
}

export interface Changes {
  /** Whether the request is for a stream. Then the body requests usage, whatever `options` says. */
  stream: boolean;
  options: Record<string, unknown> | null;
}

const OPEN = Buffer.from('{');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from('}');
const NOTHING = Buffer.alloc(0);

/**
 * Creates the body for the upstream from valid JSON: its bytes without members that don't pass, and with `changes`.
 * @throws AppError `invalid_body`
 */
export function forwardedBody(
  body: Buffer,
  members: Member[],
  allowed: AllowedFields,
  { stream, options }: Changes,
): ForwardedBody {
  const kept = members.filter((member) => passes(body, member, allowed));
  const model = kept.find(({ key }) => key === 'model');
  const named = model ? body.subarray(model.valueStart, model.end) : NOTHING;
  const template = kept.find(({ key }) => key === TEMPLATE_ARGUMENTS);
  const reduced = template && templateArguments(body, template, allowed);
  const whole = kept.length === members.length && reduced?.value === undefined;
  const requested = stream ? kept.find(({ key }) => key === STREAM_OPTIONS) : undefined;
  const replaces = stream && !(requested && arePlain(body, requested));
  if (whole && (!replaces || !requested)) {
    const bytes = replaces ? insertFirst(body, members) : body;
    const start = (model?.valueStart ?? 0) + bytes.length - body.length;
    return { kept, bytes, modelAt: { start, end: start + named.length }, dropped: undefined };
  }
  const reasoning = reasoningOf(body, members, kept);
  const parts: Buffer[] = [];
  let length = 0;
  let start = 0;
  const add = (part: Buffer): void => {
    parts.push(part);
    length += part.length;
  };
  for (const member of kept) {
    if (replaces && member === requested) continue;
    add(length === 0 ? OPEN : COMMA);
    if (member === model) start = length + member.valueStart - member.start;
    if (member === template && reduced?.value) {
      add(body.subarray(member.start, member.valueStart));
      add(reduced.value);
    } else add(body.subarray(member.start, member.end));
  }
  if (reasoning) {
    add(length === 0 ? OPEN : COMMA);
    add(reasoning.bytes);
  }
  if (replaces) {
    add(length === 0 ? OPEN : COMMA);
    add(optionsToSend(options));
  }
  if (length === 0) add(OPEN);
  add(CLOSE);
  const dropped = whole ? [] : droppedNames(members, kept, { template, reduced, reasoning });
  if (replaces) dropped.push(...droppedOptions(options));
  return {
    kept,
    bytes: Buffer.concat(parts, length),
    modelAt: { start, end: start + named.length },
    dropped: dropped.length > 0 ? droppedFieldsHeader(dropped) : undefined,
  };
}

interface Changed {
  template: Member | undefined;
  reduced: TemplateArguments | undefined;
  reasoning: Reasoning | undefined;
}

function droppedNames(
  members: readonly Member[],
  kept: readonly Member[],
  { template, reduced, reasoning }: Changed,
): string[] {
  const passed = new Set(kept);
  return members.flatMap((member) => {
    if (member === reasoning?.from) return reasoning.dropped;
    if (!passed.has(member)) return [member.key];
    return member === template ? (reduced?.dropped ?? []) : [];
  });
}

function insertFirst(body: Buffer, members: readonly Member[]): Buffer {
  const at = members[0]!.start;
  return Buffer.concat([body.subarray(0, at), optionsToSend(null), COMMA, body.subarray(at)]);
}

/** The member that requests usage in streams. */
const STREAM_OPTIONS = 'stream_options';

/** Options that request usage and that no two parsers read differently. */
const PLAIN = new Set(['{"include_usage":true}', '{"include_usage": true}']);
const LONGEST_PLAIN = Math.max(...[...PLAIN].map((text) => text.length));

/** Options that pass. Others are dropped: a node that ignores case would read `Include_Usage` as `include_usage`. */
const KNOWN = new Set(['include_usage', 'continuous_usage_stats']);

/** Whether the options of a stream are forwarded as they came. */
const arePlain = (body: Buffer, { valueStart, end }: Member): boolean =>
  end - valueStart <= LONGEST_PLAIN && PLAIN.has(body.toString('latin1', valueStart, end));

/** The options of a stream for the upstream. */
const optionsToSend = (options: Record<string, unknown> | null): Buffer =>
  Buffer.from(
    options?.continuous_usage_stats === true
      ? '"stream_options":{"include_usage":true,"continuous_usage_stats":true}'
      : '"stream_options":{"include_usage":true}',
  );

/** Names of dropped options, each after the member's name. */
const droppedOptions = (options: Record<string, unknown> | null): string[] =>
  Object.keys(options ?? {})
    .filter((name) => !KNOWN.has(name))
    .map((name) => `${STREAM_OPTIONS}.${name}`);

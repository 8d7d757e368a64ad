/**
 * Instructions to the simulator in a prompt: `[[sim delay_ms=500 status=503]]`. Only the simulator reads them;
 * docs/simulator.md lists them.
 */
const USAGE_MODES = [
  'none',
  'zero',
  'negative',
  'nan',
  'string',
  'huge',
  'continuous',
  'with_choices',
] as const;
const ENCODINGS = ['float', 'base64'] as const;
const MAX_MS = 3_600_000;
const MAX_COUNT = 1_000_000;
const MAX_CALLS = 16;

export type UsageMode = (typeof USAGE_MODES)[number];

export interface Controls {
  /** Milliseconds before the answer begins. */
  delay_ms?: number;
  /** Milliseconds to the first token, and between tokens. */
  ttft_ms?: number;
  chunk_ms?: number;
  /** Status of an error. */
  status?: number;
  /** Seconds, sent as Retry-After. */
  retry_after?: number;
  /** Number of chunks after which the connection is reset, or stalls. */
  abort_after?: number;
  stall_after?: number;
  /** Length of the answer in words. */
  words?: number;
  /** Number of tool calls in an answer with tools. */
  calls?: number;
  usage?: UsageMode;
  /** Token counts to report, prompt and completion. */
  tokens?: [number, number];
  error_first?: boolean;
  garbage?: boolean;
  truncate?: boolean;
  no_done?: boolean;
  echo_canary?: boolean;
  encoding?: (typeof ENCODINGS)[number];
  content_type?: string;
  /** Name of a form of the corpus, which is sent instead of an answer. */
  form?: string;
}

type Name = keyof Controls;
type Parser = (text: string) => unknown;

function count(low: number, high: number): Parser {
  return (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    return value >= low && value <= high ? value : undefined;
  };
}
const oneOf =
  (values: readonly string[]): Parser =>
  (text) =>
    values.includes(text) ? text : undefined;
const flag: Parser = (text) => (text === '1' ? true : text === '0' ? false : undefined);
const pair: Parser = (text) => {
  const match = /^(\d{1,10})\/(\d{1,10})$/.exec(text);
  return match ? [Number(match[1]), Number(match[2])] : undefined;
};
const formName: Parser = (text) => (/^[a-z\d-]{1,80}$/.test(text) ? text : undefined);
const mediaType: Parser = (text) => (/^[\w.+-]+\/[\w.+-]+$/.test(text) ? text : undefined);

const parsers: Record<Name, { parse: Parser; form: string }> = {
  delay_ms: { parse: count(0, MAX_MS), form: `0 to ${MAX_MS}` },
  ttft_ms: { parse: count(0, MAX_MS), form: `0 to ${MAX_MS}` },
  chunk_ms: { parse: count(0, MAX_MS), form: `0 to ${MAX_MS}` },
  status: { parse: count(300, 599), form: '300 to 599' },
  retry_after: { parse: count(0, MAX_MS), form: `0 to ${MAX_MS}` },
  abort_after: { parse: count(0, MAX_COUNT), form: `0 to ${MAX_COUNT}` },
  stall_after: { parse: count(0, MAX_COUNT), form: `0 to ${MAX_COUNT}` },
  words: { parse: count(0, MAX_COUNT), form: `0 to ${MAX_COUNT}` },
  calls: { parse: count(1, MAX_CALLS), form: `1 to ${MAX_CALLS}` },
  usage: { parse: oneOf(USAGE_MODES), form: USAGE_MODES.join(', ') },
  tokens: { parse: pair, form: 'prompt/completion, such as 12/34' },
  error_first: { parse: flag, form: '1' },
  garbage: { parse: flag, form: '1' },
  truncate: { parse: flag, form: '1' },
  no_done: { parse: flag, form: '1' },
  echo_canary: { parse: flag, form: '1' },
  encoding: { parse: oneOf(ENCODINGS), form: ENCODINGS.join(', ') },
  content_type: { parse: mediaType, form: 'a media type' },
  form: { parse: formName, form: 'the name of a file of test/wire/forms, without its ending' },
};

/** Names of all controls, in the order of docs/simulator.md. */
export const CONTROL_NAMES = Object.keys(parsers) as Name[];

/** Excludes brackets inside a block, so that a text with many `[[sim` is still scanned once. */
const BLOCK = /\[\[sim\b([^[\]]*)\]\]/g;
const MAX_ECHOED_NAME = 40;

/** An unknown control or an invalid value. The message lists what is allowed. */
export class ControlError extends Error {
  override name = 'ControlError';
}

/**
 * Reads the controls in a text and removes them from it.
 * @throws ControlError
 */
export function readControls(text: string): { controls: Controls; rest: string } {
  const controls: Record<string, unknown> = {};
  const rest = text.replace(BLOCK, (_block, inner: string) => {
    for (const assignment of inner.split(/\s+/).filter(Boolean)) {
      const [name = '', value = ''] = assignment.split(/=(.*)/s, 2);
      const parser = Object.hasOwn(parsers, name) ? parsers[name as Name] : undefined;
      if (!parser) {
        const shown = name.slice(0, MAX_ECHOED_NAME);
        throw new ControlError(`unknown simulator control ${shown}; known are ${CONTROL_NAMES.join(', ')}`);
      }
      const parsed = parser.parse(value);
      if (parsed === undefined) throw new ControlError(`simulator control ${name} takes ${parser.form}`);
      controls[name] = parsed;
    }
    return '';
  });
  return { controls: controls as Controls, rest: rest.trim() };
}

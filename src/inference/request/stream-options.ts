import type { Member } from '../../lib/json-scan.js';

/** The name of the member that asks for usage in streams. */
export const STREAM_OPTIONS = 'stream_options';

/** What asks for usage and can be read in one way only. */
const PLAIN = new Set(['{"include_usage":true}', '{"include_usage": true}']);
const LONGEST_PLAIN = Math.max(...[...PLAIN].map((text) => text.length));

/** Options that go upstream, others are dropped. A node that ignores case would take `Include_Usage` for the former. */
const KNOWN = new Set(['include_usage', 'continuous_usage_stats']);

/** Whether the options of a stream's body go upstream as they came. */
export const arePlain = (body: Buffer, { valueStart, end }: Member): boolean =>
  end - valueStart <= LONGEST_PLAIN && PLAIN.has(body.toString('latin1', valueStart, end));

/** The options of a stream as they go upstream. */
export const optionsToSend = (options: Record<string, unknown> | null): Buffer =>
  Buffer.from(
    options?.continuous_usage_stats === true
      ? '"stream_options":{"include_usage":true,"continuous_usage_stats":true}'
      : '"stream_options":{"include_usage":true}',
  );

/** Names of the options that don't go upstream, with the member's own before them. */
export const droppedOptions = (options: Record<string, unknown> | null): string[] =>
  Object.keys(options ?? {})
    .filter((name) => !KNOWN.has(name))
    .map((name) => `${STREAM_OPTIONS}.${name}`);

import type { Member } from '../../lib/json-scan.js';

/** The member in which clients of OpenRouter, Groq and OpenAI's Responses set the effort. Nodes read `reasoning_effort`. */
const OBJECT = 'reasoning';
const EFFORT = 'reasoning_effort';
/** An effort. */
const WORD = /^\w{1,16}$/;
const LONGEST_BYTES = 1_024;

export interface Reasoning {
  from: Member;
  /** The member that replaces it. */
  bytes: Buffer;
  /** Names of the object's other members, which are dropped. */
  dropped: string[];
}

/**
 * Turns a `reasoning` that doesn't pass into `reasoning_effort`. Undefined if it neither names an effort nor turns reasoning off,
 * or if the caller sends `reasoning_effort` too.
 */
export function reasoningOf(
  body: Buffer,
  members: readonly Member[],
  kept: readonly Member[],
): Reasoning | undefined {
  const from = members.find(({ key }) => key === OBJECT);
  if (!from || from.end - from.valueStart > LONGEST_BYTES) return undefined;
  if (kept.includes(from) || kept.some(({ key }) => key === EFFORT)) return undefined;
  const value: unknown = JSON.parse(body.toString('utf8', from.valueStart, from.end));
  const { effort, enabled, ...rest } = (value ?? {}) as Record<string, unknown>;
  const word = effort ?? (enabled === false ? 'none' : undefined);
  if (typeof word !== 'string' || !WORD.test(word)) return undefined;
  const bytes = Buffer.from(`"${EFFORT}":"${word}"`);
  return { from, bytes, dropped: Object.keys(rest).map((name) => `${OBJECT}.${name}`) };
}

import { type AnswerMembers, rewrite } from './answer-members.js';

/** Of an upstream's `usage`, callers get the token counts. Costs, times and searches are the operator's. */

const COUNT = /^[a-z][a-z_]{0,40}_tokens$/;
const DETAILS = /^[a-z][a-z_]{0,40}_tokens_details$/;

/** The usage of a node without details, which passes as it came. Some nodes send it in every chunk. */
const USUAL =
  /^\{"prompt_tokens":\d{1,9},"(?:completion|total)_tokens":\d{1,9},"(?:completion|total)_tokens":\d{1,9}\}$/;

/** The JSON of a usage reduced to its token counts; `null` if it isn't an object. `json`: the usage as the upstream wrote it. */
export function reportedUsage(json: string, usage: unknown): string {
  return USUAL.test(json) ? json : JSON.stringify(tokenCounts(usage));
}

/** Reduces the usage of a whole answer to its token counts. `usage`: the parsed value. */
export function reportUsage(json: Buffer, answer: AnswerMembers, usage: unknown): void {
  if (!answer.usage) return;
  const { valueStart, end } = answer.usage;
  const text = json.toString('latin1', valueStart, end);
  const reported = reportedUsage(text, usage);
  if (reported !== text) rewrite(answer, answer.usage, reported);
}

function tokenCounts(usage: unknown): object | null {
  if (!isObject(usage)) return null;
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(usage)) {
    if (COUNT.test(name)) {
      if (isCount(value)) kept[name] = value;
    } else if (DETAILS.test(name)) kept[name] = isObject(value) ? counts(value) : null;
  }
  return kept;
}

function counts(details: object): Record<string, unknown> {
  const pairs = Object.entries(details).filter(([name, value]) => COUNT.test(name) && isCount(value));
  return Object.fromEntries(pairs);
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isCount = (value: unknown): boolean =>
  value === null || (Number.isSafeInteger(value) && (value as number) >= 0);

import { type AnswerMembers, rewrite } from './answer-members.js';

/** What a caller may see of an upstream's `usage`: token counts. Costs, times and searches are the operator's. */

const COUNT = /^[a-z][a-z_]{0,40}_tokens$/;
const DETAILS = /^[a-z][a-z_]{0,40}_tokens_details$/;

/** What a node without details reports, in every chunk if it is asked to. */
const USUAL =
  /^\{"prompt_tokens":\d{1,9},"(?:completion|total)_tokens":\d{1,9},"(?:completion|total)_tokens":\d{1,9}\}$/;

/** The JSON of a usage with its token counts alone; `null` for what is no usage. `json` is what the upstream wrote. */
export function reportedUsage(json: string, usage: unknown): string {
  return USUAL.test(json) ? json : JSON.stringify(tokenCounts(usage));
}

/** Leaves of the usage of an answer what a caller may see. `usage` is its value. */
export function reportUsage(json: Buffer, answer: AnswerMembers, usage: unknown): void {
  if (!answer.usage) return;
  const { valueStart, end } = answer.usage;
  const text = json.toString('latin1', valueStart, end);
  const told = reportedUsage(text, usage);
  if (told !== text) rewrite(answer, answer.usage, told);
}

function tokenCounts(usage: unknown): object | null {
  if (!isObject(usage)) return null;
  const told: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(usage)) {
    if (COUNT.test(name)) {
      if (isCount(value)) told[name] = value;
    } else if (DETAILS.test(name)) told[name] = isObject(value) ? counts(value) : null;
  }
  return told;
}

function counts(details: object): Record<string, unknown> {
  const pairs = Object.entries(details).filter(([name, value]) => COUNT.test(name) && isCount(value));
  return Object.fromEntries(pairs);
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isCount = (value: unknown): boolean =>
  value === null || (Number.isSafeInteger(value) && (value as number) >= 0);

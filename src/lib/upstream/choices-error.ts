import { eachElement, type Member, memberValue, scanObjectInParts, skipValueInParts } from '../json-scan.js';
import type { Work } from '../turns.js';

const ERROR = Buffer.from('"error"');
/** How escapes of lower-case letters begin. Those of other languages' letters don't, so that their texts aren't parsed. */
const ESCAPED_LETTERS = [Buffer.from('\\u006'), Buffer.from('\\u007')];
/** Read at once in a search, which takes less than a millisecond. */
const SEARCHED_BYTES = 2 ** 20;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;

/**
 * The error that a choice reports, as OpenRouter does: `{"choices":[{"error":{"code":502,…}}]}`. The payload of an
 * error answer, or undefined.
 */
export function choicesError(choices: unknown): Buffer | undefined {
  if (!Array.isArray(choices)) return undefined;
  for (const choice of choices) {
    const error = (choice as { error?: unknown } | null)?.error;
    if (error) return Buffer.from(JSON.stringify({ error }));
  }
  return undefined;
}

/**
 * The same of the member `choices` of a scanned answer. It is parsed only if something in it may be called `error`.
 * @throws SyntaxError
 */
export function choicesErrorIn(json: Buffer, choices: Member): Buffer | undefined {
  const { valueStart, end } = choices;
  const isNamed = (name: Buffer): boolean => {
    const at = json.indexOf(name, valueStart);
    return at >= 0 && at < end;
  };
  return isNamed(ERROR) || ESCAPED_LETTERS.some(isNamed)
    ? choicesError(memberValue(json, choices))
    : undefined;
}

/**
 * The same with many pauses, for an answer of many megabytes. It overlooks a name with escapes.
 * @throws SyntaxError
 */
export function* choicesErrorInParts(json: Buffer, { valueStart, end }: Member): Work<Buffer | undefined> {
  if (json[valueStart] !== OPEN_BRACKET || !(yield* namesErrorInParts(json, valueStart, end)))
    return undefined;
  let told: Buffer | undefined;
  yield* eachChoice(json, valueStart, (members) => {
    told ??= choiceError(json, members);
  });
  return told;
}

/** Hands the members of each choice in the array that begins at `from` to `read`, with pauses. What isn't an object is skipped. */
export function* eachChoice(json: Buffer, from: number, read: (members: Member[]) => void): Work<void> {
  yield* eachElement(json, from, function* (start) {
    if (json[start] !== OPEN_BRACE) return yield* skipValueInParts(json, start);
    const { members, end } = yield* scanObjectInParts(json, start);
    read(members);
    return end;
  });
}

/**
 * The error that a choice with these members reports, as the payload of an error answer.
 * @throws SyntaxError
 */
export function choiceError(json: Buffer, members: readonly Member[]): Buffer | undefined {
  const error = members.findLast(({ key }) => key === 'error');
  return error && choicesError([{ error: memberValue(json, error) }]);
}

/** Whether anything between two offsets is called `error`, looked for with pauses. */
export function* namesErrorInParts(json: Buffer, from: number, end: number): Work<boolean> {
  for (let at = from; at < end; at += SEARCHED_BYTES) {
    // A name that crosses the border is found in the piece in which it begins.
    const piece = json.subarray(at, Math.min(end, at + SEARCHED_BYTES + ERROR.length - 1));
    if (piece.includes(ERROR)) return true;
    yield;
  }
  return false;
}

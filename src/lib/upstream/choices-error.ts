import { eachElement, type Member, memberText, memberValue, scanObject, skipValue } from '../json-scan.js';

const ERROR = Buffer.from('"error"');
/** Beginnings of escaped lower-case Latin letters. Escapes of other scripts differ, so that their texts aren't searched. */
const ESCAPED_LETTERS = [Buffer.from('\\u006'), Buffer.from('\\u007')];
const FINISHED_BY_ERROR = Buffer.from('{"error":{}}');
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;

/**
 * The error that a choice reports, as the payload of an error answer; undefined without one. OpenRouter sends
 * `{"choices":[{"error":{"code":502,…}}]}`; vLLM and Mistral only send the finish reason `error`. Choices are only scanned if something
 * in them may be named `error`.
 * @throws JsonScanError, SyntaxError
 */
export function choicesErrorIn(json: Buffer, { valueStart, end }: Member): Buffer | undefined {
  if (json[valueStart] !== OPEN_BRACKET || !mayNameError(json, valueStart, end)) return undefined;
  let payload: Buffer | undefined;
  eachElement(json, valueStart, (start) => {
    if (json[start] !== OPEN_BRACE) return skipValue(json, start);
    const choice = scanObject(json, start);
    payload ??= choiceError(json, choice.members);
    return choice.end;
  });
  return payload;
}

function choiceError(json: Buffer, choice: readonly Member[]): Buffer | undefined {
  const member = choice.findLast(({ key }) => key === 'error');
  const error = member && memberValue(json, member);
  if (error) return Buffer.from(JSON.stringify({ error }));
  const finish = choice.findLast(({ key }) => key === 'finish_reason');
  return finish && memberText(json, finish) === 'error' ? FINISHED_BY_ERROR : undefined;
}

function mayNameError(json: Buffer, from: number, end: number): boolean {
  const text = json.subarray(from, end);
  return text.includes(ERROR) || ESCAPED_LETTERS.some((letter) => text.includes(letter));
}

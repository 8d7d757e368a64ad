import { type Member, memberText } from '../json-scan.js';

const NO_ERROR = new Set(['null', 'false', '0', '""']);
const BACKSLASH = 0x5c;
const ERROR_BYTES = '"error"'.length;
const LONGEST_ERROR_BYTES = '"\\u0065\\u0072\\u0072\\u006f\\u0072"'.length;

/**
 * Whether a member makes an answer or chunk an error: a non-empty `error`, the common form, or `object: "error"`, the form of older
 * vLLM and SGLang. Edge and router share this check; otherwise a failed call might not be retried.
 */
export function saysError(json: Buffer, member: Member): boolean {
  const { key, valueStart, end } = member;
  if (key === 'error') return !NO_ERROR.has(json.toString('latin1', valueStart, end));
  if (key !== 'object' || end - valueStart > LONGEST_ERROR_BYTES) return false;
  // The length usually decides, unless the word contains escapes.
  const plain = end - valueStart !== ERROR_BYTES && !hasEscape(json, valueStart, end);
  return !plain && memberText(json, member) === 'error';
}

function hasEscape(json: Buffer, from: number, end: number): boolean {
  for (let at = from; at < end; at++) if (json[at] === BACKSLASH) return true;
  return false;
}

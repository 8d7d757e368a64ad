import { type Member, memberText } from '../json-scan.js';

const NO_ERROR = new Set(['null', 'false', '0', '""']);
const BACKSLASH = 0x5c;
const ERROR_BYTES = '"error"'.length;
const LONGEST_ERROR_BYTES = '"\\u0065\\u0072\\u0072\\u006f\\u0072"'.length;

/**
 * Whether a member of an answer or chunk makes it an error: `error` with any content, the common form, or `object: "error"`, the
 * form of older vLLM and SGLang. Edge and router must agree, or a call that failed would not be tried elsewhere.
 */
export function saysError(json: Buffer, member: Member): boolean {
  const { key, valueStart, end } = member;
  if (key === 'error') return !NO_ERROR.has(json.toString('latin1', valueStart, end));
  if (key !== 'object' || end - valueStart > LONGEST_ERROR_BYTES) return false;
  // The length usually settles it, unless an escape hides the word.
  const plain = end - valueStart !== ERROR_BYTES && !hasEscape(json, valueStart, end);
  return !plain && memberText(json, member) === 'error';
}

function hasEscape(json: Buffer, from: number, end: number): boolean {
  for (let at = from; at < end; at++) if (json[at] === BACKSLASH) return true;
  return false;
}

const MAX_SHOWN = 5;
/** A member of the request, or an index. Names of types, which pydantic adds in between, don't match or are in `TYPES`. */
const STEP = /^(?:[a-z_][a-z0-9_]{0,63}|\d{1,4})$/;
const TYPES = new Set([
  'body',
  'str',
  'int',
  'float',
  'bool',
  'list',
  'dict',
  'tuple',
  'bytes',
  'nullable',
  'constrained',
  'json_or_python',
]);
/** pydantic's errors in Python's notation, which vLLM sends as a message. */
const SHOWN = /'loc': \(([^()]{1,200})\), 'msg': (?:'([^']{1,200})'|"([^"]{1,200})")/g;

function pathOf(parts: readonly string[]): string {
  return parts.filter((part) => STEP.test(part) && !TYPES.has(part)).join('.');
}

function sentenceOf(errors: readonly { path: string; message: string }[]): string | undefined {
  const shown = errors
    .slice(0, MAX_SHOWN)
    .map(({ path, message }) => (path ? `${path}: ${message}` : message));
  return shown.length > 0 ? shown.join('; ') : undefined;
}

/** FastAPI's list of errors, one field each, as a sentence; undefined if `detail` isn't such a list. */
export function fieldErrors(detail: unknown): string | undefined {
  if (!Array.isArray(detail)) return undefined;
  const errors = detail.slice(0, MAX_SHOWN).flatMap((item: unknown) => {
    const { loc, msg } = (item ?? {}) as { loc?: unknown; msg?: unknown };
    return Array.isArray(loc) && typeof msg === 'string'
      ? { path: pathOf(loc.map(String)), message: msg }
      : [];
  });
  return sentenceOf(errors);
}

/** The same for a list that Python has converted to text. */
export function shownFieldErrors(message: string): string | undefined {
  const errors = [...message.matchAll(SHOWN)].map(([, loc = '', single, double]) => ({
    path: pathOf(loc.split(',').map((part) => part.trim().replaceAll("'", ''))),
    message: single ?? double ?? '',
  }));
  return sentenceOf(errors);
}

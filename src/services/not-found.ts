import { AppError } from '../errors.js';
import { uuidOf } from '../lib/uuid.js';

/** What callers name. */
type Thing =
  | 'account'
  | 'alert event'
  | 'alert subscription'
  | 'API key'
  | 'benchmark'
  | 'call'
  | 'GPU node'
  | 'model'
  | 'playground session'
  | 'prompt'
  | 'prompt version'
  | 'run'
  | 'shared session'
  | 'widget';

interface Named {
  /** What the caller named the thing by. */
  by?: string;
  /** The field that names it, where it isn't the address. */
  param?: string;
}

/** The error for a thing that isn't there or isn't the viewer's. */
export const notFound = (thing: Thing, { by = 'ID', param }: Named = {}): AppError =>
  new AppError('not_found', { message: `There is no ${thing} with this ${by}.`, ...(param && { param }) });

/** The id that a caller names a thing by, in lower case. @throws AppError `not_found` for any other text. */
export function idOf(text: string, thing: Thing, named: Named = {}): string {
  const id = uuidOf(text);
  if (id === undefined) throw notFound(thing, named);
  return id;
}

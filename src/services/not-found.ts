import { AppError } from '../errors.js';
import { uuidOf } from '../lib/uuid.js';

/** Kinds of objects that callers name. */
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
  /** How the caller named it. */
  by?: string;
  /** The field that names it, unless that is the path. */
  param?: string;
}

/** The error for an object that doesn't exist or isn't the viewer's. */
export const notFound = (thing: Thing, { by = 'ID', param }: Named = {}): AppError =>
  new AppError('not_found', { message: `There is no ${thing} with this ${by}.`, ...(param && { param }) });

/** An id from a caller, in lower case. @throws AppError `not_found` for any other text. */
export function idOf(text: string, thing: Thing, named: Named = {}): string {
  const id = uuidOf(text);
  if (id === undefined) throw notFound(thing, named);
  return id;
}

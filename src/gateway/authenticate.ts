import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { hasKeyForm, KEY_LENGTH } from '../lib/key-form.js';
import type { KeyCache } from './key-cache.js';
import type { KeyEntry } from './key-states.js';

const BEARER = /^Bearer (\S+)$/i;
const HEADER = 'authorization';

/** The one credential that a request presents, if it has the length of a key; null: missing, odd, or more than one. */
function presentedKey(request: IncomingMessage): string | null {
  const header = request.headers.authorization;
  if (header === undefined) return null;
  const key = BEARER.exec(header)?.[1];
  if (key?.length !== KEY_LENGTH || countAuthorization(request.rawHeaders) !== 1) return null;
  return key;
}

/** Node keeps the first of two Authorization headers; a caller that sends two is refused instead. */
function countAuthorization(rawHeaders: string[]): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    if (name.length === HEADER.length && name.toLowerCase() === HEADER) count++;
  }
  return count;
}

/**
 * Calls back with the active key that a request presents, or null: `invalid_api_key`. In the same turn when the key
 * is warm.
 */
export function authenticate(
  request: IncomingMessage,
  cache: KeyCache,
  done: (error: Error | null, entry: KeyEntry | null) => void,
): void {
  const key = presentedKey(request);
  if (key === null) {
    done(null, null);
    return;
  }
  const hashed = hash('sha256', key, 'hex');
  const known = cache.peek(hashed);
  if (known !== undefined) {
    done(null, activeOnly(known));
    return;
  }
  // A key that is known has the form; any other is looked up only if it has.
  if (!hasKeyForm(key)) {
    done(null, null);
    return;
  }
  cache.load(hashed).then(
    (entry) => done(null, activeOnly(entry)),
    (error: Error) => done(error, null),
  );
}

const activeOnly = (entry: KeyEntry | null): KeyEntry | null => (entry?.active ? entry : null);

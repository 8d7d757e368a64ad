import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { KeyCache, KeyEntry } from '../inference/keys/key-cache.js';
import { hasKeyForm, KEY_LENGTH } from '../lib/key-form.js';

const BEARER = /^Bearer (\S+)$/i;
const HEADER = 'authorization';

/** A credential with the length of a key. */
interface Presented {
  header: string;
  key: string;
  /** SHA-256 in hex. */
  hashed: string;
}

/** The last credential of each connection. Clients reuse it, and hashing costs as much as all other checks of a key. */
const lastOf = new WeakMap<Socket, Presented>();

/** The credential of a request; null if it is missing, malformed, or one of several. */
function presented(request: IncomingMessage): Presented | null {
  const header = request.headers.authorization;
  if (header === undefined || countAuthorization(request.rawHeaders) !== 1) return null;
  const last = lastOf.get(request.socket);
  if (last?.header === header) return last;
  const key = BEARER.exec(header)?.[1];
  if (key?.length !== KEY_LENGTH) return null;
  const now = { header, key, hashed: hash('sha256', key, 'hex') };
  lastOf.set(request.socket, now);
  return now;
}

/** Node keeps only the first of two Authorization headers, so `rawHeaders` is counted: two are refused. */
function countAuthorization(rawHeaders: string[]): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    if (name.length === HEADER.length && name.toLowerCase() === HEADER) count++;
  }
  return count;
}

/**
 * Looks up the key of a request, active or not. Returns null if the request has no key or the key doesn't exist.
 * @throws RowUnavailableError
 */
export async function authenticate(request: IncomingMessage, cache: KeyCache): Promise<KeyEntry | null> {
  const credential = presented(request);
  if (credential === null) return null;
  const { key, hashed } = credential;
  const known = cache.peek(hashed);
  if (known !== undefined) return known;
  // A cached key is well-formed. Malformed keys are not looked up.
  return hasKeyForm(key) ? cache.load(hashed) : null;
}

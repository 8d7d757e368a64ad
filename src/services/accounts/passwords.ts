import { randomBytes } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';
import { AppError } from '../../errors.js';
import { createGate, GateFullError } from '../../lib/gate.js';

/** OWASP's argon2id: 19 MiB, two passes, one lane. The package's default algorithm is argon2id. */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** Hashing takes a core for tens of milliseconds: log-ins must not starve the rest of the process. */
const AT_ONCE = 4;
const WAITING = 200;
const RETRY_AFTER_SECONDS = 2;
const gate = createGate({ atOnce: AT_ONCE, waiting: WAITING });

async function gated<T>(task: () => Promise<T>): Promise<T> {
  try {
    return await gate.run(task);
  } catch (error) {
    if (!(error instanceof GateFullError)) throw error;
    throw new AppError('service_unavailable', { retryAfterSeconds: RETRY_AFTER_SECONDS, cause: error });
  }
}

/** @throws AppError `service_unavailable` when too many hashes wait. */
export const hashPassword = (password: string): Promise<string> => gated(() => hash(password, PARAMETERS));

let dummyHash: Promise<string> | undefined;

/** Makes the hash that unknown mails are compared with before anyone waits for it. */
export function prepareDummyHash(): Promise<string> {
  dummyHash ??= hash(randomBytes(16).toString('hex'), PARAMETERS);
  return dummyHash;
}

/**
 * Whether a password is right. Without a hash (no such account) the same work is done for nothing, so that the time
 * of the answer doesn't tell who has an account.
 * @throws AppError `service_unavailable` when too many hashes wait.
 */
export async function passwordMatches(password: string, passwordHash: string | undefined): Promise<boolean> {
  const compared = passwordHash ?? (await prepareDummyHash());
  const right = await gated(() => verify(compared, password));
  return right && passwordHash !== undefined;
}

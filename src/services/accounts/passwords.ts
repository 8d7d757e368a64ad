import { randomBytes } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';
import { AppError } from '../../errors.js';
import { createGate, GateFullError } from '../../lib/gate.js';
import type { PasswordHashing } from '../../lib/password-profiles.js';

/** Hashing takes a core for tens of milliseconds: log-ins must not starve the rest of the process. */
const AT_ONCE = 4;
const WAITING = 200;
const RETRY_AFTER_SECONDS = 2;

/** Hashes passwords and compares them. */
export interface Passwords {
  /** @throws AppError `service_unavailable` when too many hashes wait. */
  hash(password: string): Promise<string>;
  /**
   * Whether a password is right, also for a hash made with other parameters. Without a hash (no such account) it does
   * the same work, so that response times don't reveal whether an account exists.
   * @throws AppError `service_unavailable` when too many hashes wait.
   */
  match(password: string, passwordHash: string | undefined): Promise<boolean>;
  /** The hash that unknown email addresses are compared with. Call it at start-up, so that no request waits for it. */
  dummyHash(): Promise<string>;
}

/** The passwords of one process, hashed with the parameters that `config.passwordHashing` holds. */
export function createPasswords(parameters: PasswordHashing): Passwords {
  const gate = createGate({ atOnce: AT_ONCE, waiting: WAITING });
  const gated = async <T>(task: () => Promise<T>): Promise<T> => {
    try {
      return await gate.run(task);
    } catch (error) {
      if (!(error instanceof GateFullError)) throw error;
      throw new AppError('service_unavailable', { retryAfterSeconds: RETRY_AFTER_SECONDS, cause: error });
    }
  };

  let dummy: Promise<string> | undefined;
  const dummyHash = (): Promise<string> => {
    dummy ??= hash(randomBytes(16).toString('hex'), parameters);
    return dummy;
  };

  return {
    // The package's default algorithm is argon2id.
    hash: (password) => gated(() => hash(password, parameters)),
    async match(password, passwordHash) {
      const compared = passwordHash ?? (await dummyHash());
      const right = await gated(() => verify(compared, password));
      return right && passwordHash !== undefined;
    },
    dummyHash,
  };
}

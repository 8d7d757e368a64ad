import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { hash, verify } from '@node-rs/argon2';
import { AppError } from '../../errors.js';
import { FairQueue, QueueFullError, QueueTimeoutError } from '../../lib/fair/fair-queue.js';
import type { PasswordHashing } from '../../lib/password-profiles.js';

/**
 * Half of the processors, and always fewer than the four threads of Node's pool, which also verify sessions and read
 * files: nothing else waits for a hash.
 */
const HASHES_AT_ONCE = Math.max(1, Math.min(3, Math.floor(availableParallelism() / 2)));
/** Some requests use the database while others hash. More would take its connections from everybody else. */
const AT_ONCE = HASHES_AT_ONCE + 2;
const WAITING = 256;
const WAITING_PER_NETWORK = 16;
/** All hashes share one queue. */
const OWNER = '';
/** Requests still waiting after this get a 503 with `retry-after`. */
const PATIENCE_MS = 10_000;
const RETRY_AFTER_SECONDS = 2;
/** Maximum number of failed networks remembered, most recent first. */
const MOST_FAILED = 10_000;

/** The client that waits for its turn. */
export interface PasswordClient {
  network: string;
  /** Whether its share of the queue is unlimited. */
  exempt: boolean;
}

export interface Passwords {
  /**
   * Runs a sign-up, a log-in or another proof of identity when its network's turn comes. While others wait, networks
   * whose last attempt failed get one turn in four. An attempt fails when it throws, or when `isRight` returns false
   * for its result.
   * @throws AppError `service_unavailable` when too many wait, or its turn doesn't come within 10 s.
   */
  inTurn<T>(client: PasswordClient, work: () => Promise<T>, isRight?: (result: T) => boolean): Promise<T>;
  hash(password: string): Promise<string>;
  /**
   * Whether a password is right, also for a hash made with other parameters. Without a hash (no such account) it
   * takes as long, so that response times don't reveal whether an account exists.
   */
  match(password: string, passwordHash: string | null | undefined): Promise<boolean>;
  /** The hash for comparisons without an account. Call it at start-up, so that no request waits for it. */
  dummyHash(): Promise<string>;
}

/** The passwords of one process, hashed with the parameters that `config.passwordHashing` holds. */
export function createPasswords(parameters: PasswordHashing): Passwords {
  /** Networks whose last proof failed. */
  const failed = new Set<string>();
  const note = (network: string, isRight: boolean): void => {
    failed.delete(network);
    if (isRight) return;
    failed.add(network);
    if (failed.size > MOST_FAILED) failed.delete(failed.values().next().value!);
  };
  const queue = new FairQueue({
    atOnce: AT_ONCE,
    waiting: WAITING,
    waitingPerOwner: WAITING_PER_NETWORK,
    patienceMs: PATIENCE_MS,
    isBehind: (network) => failed.has(network),
  });
  // `queue` limits how many wait here.
  const hashes = new FairQueue({ atOnce: HASHES_AT_ONCE });

  let dummy: Promise<string> | undefined;
  const dummyHash = (): Promise<string> => {
    dummy ??= hash(randomBytes(16).toString('hex'), parameters);
    return dummy;
  };

  return {
    async inTurn({ network, exempt }, work, isRight = () => true) {
      const noted = async () => {
        try {
          const result = await work();
          note(network, isRight(result));
          return result;
        } catch (error) {
          note(network, false);
          throw error;
        }
      };
      try {
        return await queue.run(network, noted, exempt ? WAITING : WAITING_PER_NETWORK);
      } catch (error) {
        if (!(error instanceof QueueFullError || error instanceof QueueTimeoutError)) throw error;
        throw new AppError('service_unavailable', { retryAfterSeconds: RETRY_AFTER_SECONDS, quiet: true });
      }
    },
    // The package's default algorithm is argon2id.
    hash: (password) => hashes.run(OWNER, () => hash(password, parameters)),
    async match(password, passwordHash) {
      const compared = passwordHash ?? (await dummyHash());
      const right = await hashes.run(OWNER, () => verify(compared, password));
      return right && typeof passwordHash === 'string';
    },
    dummyHash,
  };
}

import type { Pool, PoolClient } from 'pg';
import { AppError } from '../errors.js';
import { FairQueue, QueueFullError, QueueTimeoutError } from '../lib/fair/fair-queue.js';
import { currentOwner } from '../lib/work-owner.js';

/** One owner gets at most a quarter of the connections, and at least one. */
const SHARES = 4;
/** Maximum waiting statements of one owner. */
const WAITING_PER_OWNER = 100;

type Callback = (error: unknown, client?: PoolClient, release?: PoolClient['release']) => void;

/**
 * Adds a queue in front of a pool, in which owners take turns and none gets more than a quarter of the connections
 * (docs/decisions/0075). The process's own work has no owner and doesn't wait there.
 */
export function shareFairly(pool: Pool, patienceMs: number): void {
  const { max } = pool.options;
  const queue = new FairQueue({
    atOnce: max,
    perOwner: Math.max(1, Math.floor(max / SHARES)),
    waitingPerOwner: WAITING_PER_OWNER,
    patienceMs,
  });
  const connect = pool.connect.bind(pool) as () => Promise<PoolClient>;
  const connectInTurn = async (): Promise<PoolClient> => {
    const owner = currentOwner();
    if (owner === undefined) return connect();
    const leave = await queue.enter(owner).catch(refuse);
    try {
      return endingTurn(await connect(), leave);
    } catch (error) {
      leave();
      throw error;
    }
  };
  const connectAnyWay = (callback?: Callback): Promise<PoolClient> | undefined => {
    const connecting = connectInTurn();
    if (!callback) return connecting;
    connecting.then((client) => callback(undefined, client, client.release), callback);
    return undefined;
  };
  pool.connect = connectAnyWay as typeof pool.connect;
}

/** Ends the turn when the connection is released. */
function endingTurn(client: PoolClient, leave: () => void): PoolClient {
  const { release } = client;
  client.release = (error) => {
    leave();
    release.call(client, error);
  };
  return client;
}

function refuse(error: unknown): never {
  if (error instanceof QueueFullError) {
    const message = 'Too many requests of this account are waiting. Send them one at a time.';
    throw new AppError('rate_limit_exceeded', { message, retryAfterSeconds: 1 });
  }
  // The same error as the pool's own, which `lib/database-outage.ts` recognizes.
  if (error instanceof QueueTimeoutError) throw new Error('timeout exceeded when trying to connect');
  throw error;
}

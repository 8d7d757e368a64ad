import { requireViewer, type ServiceContext } from '../../context.js';
import { AppError } from '../../errors.js';
import { isDatabaseOutage } from '../../lib/database-outage.js';
import { FairQueue } from '../../lib/fair/fair-queue.js';
import { asOwnWork } from '../../lib/work-owner.js';
import { AccountStream, type Point, type Step, type StreamSource } from './account-stream.js';
import { endable } from './endable.js';
import { Notifier } from './notifier.js';

/** A signal that was lost costs at most so long. */
const PATIENCE_MS = 30_000;
const RETRY_MS = 1_000;
/** Per kind, account and process: twice the number of sockets. */
const FOLLOWERS_PER_ACCOUNT = 20;

export interface AccountStreamsOptions<Moment, Row> {
  /** Calls `listener` when the account may have something new. Gives the way to stop. */
  onSignal(accountId: string, listener: () => void): () => void;
  /** Reads of all accounts that run at once: they must not take the connections of requests. */
  readsAtOnce: number;
  /** What is read for an account; the context is that of its first follower. */
  sourceOf(context: ServiceContext, accountId: string): StreamSource<Moment, Row>;
}

/** Follows the viewer's stream: everything that is new from now on, each row once. */
export type FollowStream<Row> = (context: ServiceContext) => Promise<AsyncIterableIterator<Row>>;

/**
 * One stream for each account that somebody follows. Accounts take turns to read, each with one bounded read at a time,
 * so that nobody waits for how many others follow, or for how much they are told.
 */
export function createAccountStreams<Moment, Row>(
  options: AccountStreamsOptions<Moment, Row>,
): FollowStream<Row> {
  const { onSignal, readsAtOnce, sourceOf } = options;
  const turns = new FairQueue({ atOnce: readsAtOnce, perOwner: 1 });
  const streams = new Map<string, { stream: AccountStream<Moment, Row>; close(): void }>();

  /**
   * The reads of an account in its turns. They don't wait for its share of the connections: a turn is one of few, and all others
   * would wait with it.
   */
  const inTurn = (accountId: string, source: StreamSource<Moment, Row>): StreamSource<Moment, Row> => {
    const run = <T>(read: () => Promise<T>): Promise<T> => turns.run(accountId, () => asOwnWork(read));
    return {
      begin: () => run(() => source.begin()),
      advance: (from) => run(() => source.advance(from)),
      isWhole: (moment) => source.isWhole(moment),
    };
  };

  const open = (context: ServiceContext, accountId: string) => {
    const known = streams.get(accountId);
    if (known) return known;
    const own = { ...context, em: context.em.fork() };
    const stream = new AccountStream(inTurn(accountId, sourceOf(own, accountId)));
    const leave = onSignal(accountId, () => stream.signal());
    const opened = {
      stream,
      close() {
        leave();
        streams.delete(accountId);
      },
    };
    streams.set(accountId, opened);
    return opened;
  };

  return async (context) => {
    const { accountId } = requireViewer(context);
    const { stream, close } = open(context, accountId);
    if (stream.followers >= FOLLOWERS_PER_ACCOUNT) {
      const message = `At most ${FOLLOWERS_PER_ACCOUNT} subscriptions of one kind per account. End one of them first.`;
      throw new AppError('rate_limit_exceeded', { message });
    }
    const notifier = new Notifier();
    const leave = stream.follow(() => notifier.notify());
    const end = (): void => {
      notifier.stop();
      leave();
      if (stream.followers === 0 && streams.get(accountId)?.stream === stream) close();
    };
    try {
      return endable(rowsFrom(stream, await stream.join(), notifier), end);
    } catch (error) {
      end();
      throw error;
    }
  };
}

/** Rows as one follower takes them. While the database is away it tries again. */
async function* rowsFrom<Moment, Row>(
  stream: AccountStream<Moment, Row>,
  start: Point<Moment, Row>,
  notifier: Notifier,
): AsyncGenerator<Row, void> {
  let point = start;
  while (!notifier.stopped) {
    let notified = true;
    while (notified && !notifier.stopped && stream.isIdle(point)) notified = await notifier.wait(PATIENCE_MS);
    if (notifier.stopped) return;
    let step: Step<Moment, Row>;
    try {
      step = await stream.step(point);
    } catch (error) {
      if (!isDatabaseOutage(error)) throw error;
      await notifier.wait(RETRY_MS);
      continue;
    }
    yield* step.rows;
    point = step.to;
  }
}

import { requireViewer, type ServiceContext } from '../../context.js';
import { AppError } from '../../errors.js';
import { isDatabaseOutage } from '../../lib/database-outage.js';
import { FairQueue } from '../../lib/fair/fair-queue.js';
import { asOwnWork } from '../../lib/work-owner.js';
import { AccountStream, type Point, type Step, type StreamSource } from './account-stream.js';
import { endable } from './endable.js';
import { Notifier } from './notifier.js';

/** A lost signal delays events by at most this. */
const PATIENCE_MS = 30_000;
const RETRY_MS = 1_000;
/** Per kind, account and process: twice the maximum number of sockets. */
const FOLLOWERS_PER_ACCOUNT = 20;

export interface AccountStreamsOptions<Moment, Row> {
  /** Calls `listener` when the account may have something new. Returns a function that stops this. */
  onSignal(accountId: string, listener: () => void): () => void;
  /** Reads at once over all accounts: they must not take the connections of requests. */
  readsAtOnce: number;
  /** The source of an account; `context` is that of its first follower. */
  sourceOf(context: ServiceContext, accountId: string): StreamSource<Moment, Row>;
}

/** Follows the viewer's stream: all new rows from now on, each exactly once. */
export type FollowStream<Row> = (context: ServiceContext) => Promise<AsyncIterableIterator<Row>>;

/**
 * One stream for each account with followers. Accounts take turns to read, with one limited read each at a time, so
 * nobody's delay depends on the number of other followers or on how much they receive.
 */
export function createAccountStreams<Moment, Row>(
  options: AccountStreamsOptions<Moment, Row>,
): FollowStream<Row> {
  const { onSignal, readsAtOnce, sourceOf } = options;
  const turns = new FairQueue({ atOnce: readsAtOnce, perOwner: 1 });
  const streams = new Map<string, { stream: AccountStream<Moment, Row>; close(): void }>();

  /**
   * Reads of an account in its turns. They bypass the account's share of connections: turns are few, and one that
   * waited would hold up all other accounts.
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

/** Rows as one follower takes them. Retries while the database is unavailable. */
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

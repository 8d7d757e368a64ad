import type { Client as Socket } from 'graphql-ws';

/** After an outage everybody comes back within this, not all at once. */
const RETRY_MS = { first: 500, most: 15_000 };
/** What isn't refused by then stands, since the server waits less for its database: the protocol has no word for it. */
const STANDS_MS = 6_000;
/** How a socket is closed that nobody uses any more. */
const UNUSED = 1000;
/** Refusals that pass. The others are meant, and asking again would change nothing. */
const PASSING = ['internal_error', 'platform_unavailable', 'rate_limit_exceeded', 'service_unavailable'];

const waiting = new Set<() => void>();

/** Resolves when it is time for another try: later with each that has failed, at once if `reconnectNow` is called. */
export const waitToRetry = (attempts: number): Promise<void> => {
  const most = Math.min(RETRY_MS.most, RETRY_MS.first * 2 ** attempts);
  return new Promise((resolve) => {
    const end = (): void => {
      waiting.delete(end);
      resolve();
    };
    waiting.add(end);
    setTimeout(end, most * (0.5 + Math.random() / 2));
  });
};

/** Somebody looks, or the network is back: what waits to be tried again is tried now. */
export function reconnectNow(): void {
  for (const end of waiting) end();
}

const passes = (faults: readonly { extensions?: Record<string, unknown> }[] = []): boolean =>
  faults.length > 0 && faults.every(({ extensions }) => PASSING.includes(String(extensions?.code)));

interface Standing {
  /** Everything that is subscribed to is told: the socket is there, and no subscription waits for its next try. */
  onStand(): void;
  /** Something isn't told any more. */
  onLost(): void;
}

/** When to try again. All subscriptions wait together, so that they are missed for the same time. */
function createRetries(socket: Socket, { onStand, onLost }: Standing) {
  let isConnected = false;
  let isRefused = false;
  let attempts = 0;
  let pause: Promise<void> | undefined;
  let standsTimer: number | undefined;

  const watchStanding = (): void => {
    window.clearTimeout(standsTimer);
    if (!isConnected || pause) return;
    standsTimer = window.setTimeout(() => {
      attempts = 0;
      if (!isRefused) return;
      isRefused = false;
      onStand();
    }, STANDS_MS);
  };

  socket.on('connected', () => {
    isConnected = true;
    reconnectNow();
    watchStanding();
    if (!isRefused) onStand();
  });
  socket.on('closed', (event) => {
    isConnected = false;
    window.clearTimeout(standsTimer);
    if ((event as CloseEvent).code !== UNUSED) onLost();
  });
  return {
    /** A subscription was refused, while the socket stays. */
    refused(): void {
      isRefused = true;
      onLost();
    },
    /** Resolves when it is time for the next try. */
    wait(): Promise<void> {
      window.clearTimeout(standsTimer);
      pause ??= waitToRetry(attempts++).then(() => {
        pause = undefined;
        watchStanding();
      });
      return pause;
    },
  };
}

/**
 * Subscriptions that last: what a close or a passing refusal has ended is subscribed to again, less and less often. By itself
 * graphql-ws ends them all at some closes, and a refused one in any case; a page would never be told of anything again.
 * @param socket doesn't retry by itself.
 */
export function createLasting(socket: Socket, standing: Standing): Socket['subscribe'] {
  const retries = createRetries(socket, standing);
  return (payload, sink) => {
    let isOver = false;
    let leave = (): void => undefined;
    const again = async (): Promise<void> => {
      // A socket counts what was closed with it until that is left.
      leave();
      await retries.wait();
      if (!isOver) open();
    };
    const againAfterRefusal = (): void => {
      retries.refused();
      void again();
    };
    const open = (): void => {
      let isRefused = false;
      leave = socket.subscribe<never, never>(payload, {
        next(result) {
          // An event has data, if only null. Without it the subscription has failed to begin, and completes.
          isRefused = result.data === undefined && passes(result.errors);
          if (!isRefused) sink.next(result);
        },
        error(fault) {
          if (isOver) return;
          if (!Array.isArray(fault)) void again();
          else if (passes(fault)) againAfterRefusal();
          else sink.error(fault);
        },
        complete() {
          if (isRefused && !isOver) againAfterRefusal();
          else sink.complete();
        },
      });
    };
    open();
    return () => {
      isOver = true;
      leave();
    };
  };
}

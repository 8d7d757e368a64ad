import type { Client as Socket } from 'graphql-ws';

/** After an outage, pages reconnect spread over this time, not all at once. */
const RETRY_MS = { first: 500, most: 15_000 };
/**
 * A subscription that isn't refused by then has begun, since the server waits less for its database. The protocol has no
 * acknowledgement.
 */
const SETTLED_MS = 6_000;
/** The code with which an unused socket is closed. */
const UNUSED = 1000;
/** Codes of temporary refusals. Others are final, and trying again wouldn't help. */
const PASSING = ['internal_error', 'platform_unavailable', 'rate_limit_exceeded', 'service_unavailable'];

const waiting = new Set<() => void>();

/** Resolves when it is time for another try: later after each failed one, at once if `reconnectNow` is called. */
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

/** Ends all waits for another try: the user is back, or the network is. */
export function reconnectNow(): void {
  for (const end of waiting) end();
}

const passes = (faults: readonly { extensions?: Record<string, unknown> }[] = []): boolean =>
  faults.length > 0 && faults.every(({ extensions }) => PASSING.includes(String(extensions?.code)));

interface ConnectionListeners {
  /** The socket is open, and every subscription has begun. */
  onReady(): void;
  /** At least one subscription receives nothing. */
  onLost(): void;
}

/** Decides when to try again. All subscriptions wait together, so that all miss the same time. */
function createRetries(socket: Socket, { onReady, onLost }: ConnectionListeners) {
  let isConnected = false;
  let isRefused = false;
  let attempts = 0;
  let pause: Promise<void> | undefined;
  let settledTimer: number | undefined;

  const startSettling = (): void => {
    window.clearTimeout(settledTimer);
    if (!isConnected || pause) return;
    settledTimer = window.setTimeout(() => {
      attempts = 0;
      if (!isRefused) return;
      isRefused = false;
      onReady();
    }, SETTLED_MS);
  };

  socket.on('connected', () => {
    isConnected = true;
    reconnectNow();
    startSettling();
    if (!isRefused) onReady();
  });
  socket.on('closed', (event) => {
    isConnected = false;
    window.clearTimeout(settledTimer);
    if ((event as CloseEvent).code !== UNUSED) onLost();
  });
  return {
    /** A subscription was refused while the socket stays open. */
    refused(): void {
      isRefused = true;
      onLost();
    },
    /** Resolves when it is time for the next try. */
    wait(): Promise<void> {
      window.clearTimeout(settledTimer);
      pause ??= waitToRetry(attempts++).then(() => {
        pause = undefined;
        startSettling();
      });
      return pause;
    },
  };
}

/**
 * Subscriptions that are repeated, less and less often, after the socket was closed or after a temporary refusal. graphql-ws
 * itself ends all of them at some close codes, and a refused one always.
 * @param socket doesn't retry by itself.
 */
export function createLasting(socket: Socket, listeners: ConnectionListeners): Socket['subscribe'] {
  const retries = createRetries(socket, listeners);
  return (payload, sink) => {
    let isOver = false;
    let leave = (): void => undefined;
    const again = async (): Promise<void> => {
      // A socket counts a subscription that was closed with it until that is left.
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

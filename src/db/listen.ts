import pg from 'pg';
import type { Logger } from '../lib/logger.js';

export interface Listener {
  /** Whether the connection stands at the moment. */
  connected(): boolean;
  stop(): Promise<void>;
}

export interface ListenOptions {
  databaseUrl: string;
  channel: string;
  log: Logger;
  onNotify(payload: string): void;
  /** Called whenever a connection begins to listen, the first included: notifications before it were missed. */
  onListening(): void;
}

const RETRY_BASE_MS = 100;
const RETRY_MAX_MS = 2_000;
/** A connection whose peer froze says nothing: ask now and then, and give it up when there is no answer. */
const PROBE_INTERVAL_MS = 2_000;
const PROBE_TIMEOUT_MS = 2_000;

/** LISTEN on one channel over a connection of its own that comes back by itself, with jitter. */
export function listen(options: ListenOptions): Listener {
  let client: pg.Client | undefined;
  let stopped = false;
  let everConnected = false;
  let attempt = 0;
  let retry: NodeJS.Timeout | undefined;
  let probe: NodeJS.Timeout | undefined;

  const lose = (lost: pg.Client): void => {
    if (client !== lost) return;
    client = undefined;
    clearInterval(probe);
    lost.removeAllListeners('notification');
    lost.end().catch(() => undefined);
    if (stopped) return;
    const wait = Math.min(RETRY_MAX_MS, RETRY_BASE_MS * 2 ** attempt++) * (0.5 + Math.random() / 2);
    retry = setTimeout(connect, wait);
    retry.unref();
  };

  const startProbe = (current: pg.Client): void => {
    probe = setInterval(() => {
      const timer = setTimeout(() => lose(current), PROBE_TIMEOUT_MS);
      current.query('select 1').then(
        () => clearTimeout(timer),
        () => lose(current),
      );
    }, PROBE_INTERVAL_MS);
    probe.unref();
  };

  const connect = (): void => {
    const next = new pg.Client({
      connectionString: options.databaseUrl,
      application_name: 'gateway-listen',
      connectionTimeoutMillis: 2_000,
      keepAlive: true,
    });
    client = next;
    next.on('error', () => lose(next));
    next.on('end', () => lose(next));
    next.on('notification', (message) => options.onNotify(message.payload ?? ''));
    next
      .connect()
      .then(() => next.query(`listen ${pg.escapeIdentifier(options.channel)}`))
      .then(() => {
        attempt = 0;
        if (everConnected) options.log.info({ channel: options.channel }, 'listening again');
        options.onListening();
        everConnected = true;
        connectedClient = next;
        startProbe(next);
      })
      .catch(() => lose(next));
  };

  let connectedClient: pg.Client | undefined;
  connect();
  return {
    connected: () => client !== undefined && client === connectedClient,
    async stop() {
      stopped = true;
      clearTimeout(retry);
      clearInterval(probe);
      await client?.end().catch(() => undefined);
    },
  };
}

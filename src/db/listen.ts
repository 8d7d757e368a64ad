import pg from 'pg';
import { type BackOff, jitteredMs } from '../lib/back-off.js';
import type { Logger } from '../lib/logger.js';
import { within } from '../lib/within.js';
import { SESSION_LIMITS } from './bounded.js';
import { DatabaseClient } from './client.js';

export interface Listener {
  /** Whether the connection is currently open. */
  connected(): boolean;
  stop(): Promise<void>;
}

export interface ListenOptions {
  databaseUrl: string;
  channel: string | readonly string[];
  log: Logger;
  onNotify(payload: string, channel: string): void;
  /** Called whenever a connection begins to listen, also the first time. Earlier notifications may have been missed. */
  onListening(): void;
}

const RETRY: BackOff = { firstMs: 100, maxMs: 2_000 };
/** Probes find a connection whose server froze, which looks like one without notifications. */
const PROBE_INTERVAL_MS = 2_000;
const PROBE_TIMEOUT_MS = 2_000;
const GOODBYE_MS = 1_000;

/** Listens to one or more channels on a separate connection, which reconnects by itself with jitter. */
export function listen(options: ListenOptions): Listener {
  const channels = [options.channel].flat();
  const statement = channels.map((channel) => `listen ${pg.escapeIdentifier(channel)}`).join('; ');
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
    retry = setTimeout(connect, jitteredMs(RETRY, attempt++));
    retry.unref();
  };

  const startProbe = (current: pg.Client): void => {
    probe = setInterval(() => {
      current.query('select 1').catch(() => lose(current));
    }, PROBE_INTERVAL_MS);
    probe.unref();
  };

  const connect = (): void => {
    const next = new DatabaseClient({
      connectionString: options.databaseUrl,
      application_name: 'gateway-listen',
      connectionTimeoutMillis: PROBE_TIMEOUT_MS,
      query_timeout: PROBE_TIMEOUT_MS,
      keepAlive: true,
      ...SESSION_LIMITS,
    });
    client = next;
    next.on('error', () => lose(next));
    next.on('end', () => lose(next));
    next.on('notification', (message) => options.onNotify(message.payload ?? '', message.channel));
    next
      .connect()
      .then(() => next.query(statement))
      .then(() => {
        attempt = 0;
        if (everConnected) options.log.info({ channels }, 'listening again');
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
      // A frozen server would never close the connection.
      if (client) await within(GOODBYE_MS, client.end()).catch(() => undefined);
    },
  };
}

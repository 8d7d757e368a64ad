import type { Socket } from 'node:net';
import pg from 'pg';
import { withReliedSettings } from './relied-settings.js';

/** What this product relies on in the driver beyond its types. */
interface Internals {
  host: string;
  connection: {
    ssl: boolean | object | undefined;
    stream: Socket;
    on(
      event: 'parameterStatus',
      listen: (message: { parameterName: string; parameterValue: string }) => void,
    ): void;
  };
}

export interface DatabaseClientConfig extends pg.ClientConfig {
  /** Whether the address belongs to a pooler, whose sessions are shared: nothing of them is set. */
  pooled?: boolean;
}

/** What a server reports at the start of a session, and whenever it changes: `on` means that it takes no writes. */
const READ_ONLY = new Set(['in_hot_standby', 'default_transaction_read_only']);
/** PostgreSQL's code for a write in a read-only transaction. */
const READ_ONLY_STATE = '25006';

/**
 * The client of every connection, of pools too: they take it as their `Client`. A connection to a server that takes no writes
 * is closed, so that the next one finds the new primary, or the same server once it takes writes again.
 */
export class DatabaseClient extends pg.Client {
  constructor({ pooled = false, connectionString = '', ...config }: DatabaseClientConfig = {}) {
    super({ ...config, connectionString: pooled ? connectionString : withReliedSettings(connectionString) });
    const { connection, host } = this as unknown as Internals;
    // A pooler answers for sessions that this client doesn't have.
    if (!pooled) {
      connection.on('parameterStatus', ({ parameterName, parameterValue }) => {
        if (parameterValue === 'on' && READ_ONLY.has(parameterName))
          connection.stream.destroy(readOnly(parameterName));
      });
    }
    // Without it, the driver compares the certificate of a server at an IP address with the name `localhost`.
    if (connection.ssl)
      connection.ssl = Object.assign(connection.ssl === true ? {} : connection.ssl, { host });
  }
}

const readOnly = (parameter: string): Error =>
  Object.assign(new Error(`the database takes no writes: ${parameter} is on`), { code: READ_ONLY_STATE });

import pg from 'pg';
import { withReliedSettings } from './relied-settings.js';

/** What this product relies on in the driver beyond its types. */
interface Internals {
  host: string;
  connection: { ssl: boolean | object | undefined };
}

export interface DatabaseClientConfig extends pg.ClientConfig {
  /** Whether the address belongs to a pooler, whose sessions are shared: nothing of them is set. */
  pooled?: boolean;
}

/** The client of every connection, of pools too: they take it as their `Client`. */
export class DatabaseClient extends pg.Client {
  constructor({ pooled = false, connectionString = '', ...config }: DatabaseClientConfig = {}) {
    super({ ...config, connectionString: pooled ? connectionString : withReliedSettings(connectionString) });
    const { connection, host } = this as unknown as Internals;
    // Without it, the driver compares the certificate of a server at an IP address with the name `localhost`.
    if (connection.ssl)
      connection.ssl = Object.assign(connection.ssl === true ? {} : connection.ssl, { host });
  }
}

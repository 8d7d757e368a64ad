import pg from 'pg';

/** What this product relies on in the driver beyond its types. */
interface Internals {
  host: string;
  connection: { ssl: boolean | object | undefined };
}

/** The client of every connection, of pools too: they take it as their `Client`. */
export class DatabaseClient extends pg.Client {
  constructor(config: pg.ClientConfig = {}) {
    super(config);
    const { connection, host } = this as unknown as Internals;
    // Without it, the driver compares the certificate of a server at an IP address with the name `localhost`.
    if (connection.ssl)
      connection.ssl = Object.assign(connection.ssl === true ? {} : connection.ssl, { host });
  }
}

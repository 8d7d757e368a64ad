import type { Config } from '../config.js';

/** The database, and the same past a pooler where there is one. */
export type Addresses = Pick<Config, 'databaseUrl' | 'databaseDirectUrl'>;

/** Whether `databaseUrl` is that of a pooler. */
export const isPooled = ({ databaseUrl, databaseDirectUrl }: Addresses): boolean =>
  databaseDirectUrl !== null && databaseDirectUrl !== databaseUrl;

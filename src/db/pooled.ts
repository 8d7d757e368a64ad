import type { Config } from '../config.js';

/** Addresses of the database: as configured, and past a pooler. */
export type Addresses = Pick<Config, 'databaseUrl' | 'databaseDirectUrl'>;

/** Whether `databaseUrl` belongs to a pooler. */
export const isPooled = ({ databaseUrl, databaseDirectUrl }: Addresses): boolean =>
  databaseDirectUrl !== null && databaseDirectUrl !== databaseUrl;

import { generatedSecret } from '../lib/generated-secret.js';

export const SUPERUSER = 'gateway';

/** Returns the password of a DATA_DIR's database; generates it on first use. */
export const passwordOf = (dataDir: string): string => generatedSecret(dataDir, 'DATABASE_PASSWORD');

/** Makes addresses of a server's databases. */
export const urlsOn =
  (password: string) =>
  (port: number) =>
  (database: string): string =>
    `postgresql://${SUPERUSER}:${password}@127.0.0.1:${port}/${database}`;

import { rmSync } from 'node:fs';
import type { EmbeddedPostgres } from '../../src/db/embedded.js';
import { stopShared } from './once-per-worker.js';

export default async function globalTeardown(): Promise<void> {
  const { testServer } = globalThis as unknown as {
    testServer: { server: EmbeddedPostgres; directory: string };
  };
  // Files that ran in this very process, as with `--runInBand`.
  await stopShared();
  await testServer.server.stop();
  rmSync(testServer.directory, { recursive: true, force: true });
}

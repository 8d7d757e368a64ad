import { rmSync } from 'node:fs';
import type { EmbeddedPostgres } from '../../src/db/embedded.js';
import { failedWorkers } from './jest/worker-failures.js';
import { stopShared } from './once-per-worker.js';

/** Jest waits forever for what a failed test left running in this process. */
const LEFT_RUNNING_MS = 10_000;

export default async function globalTeardown(): Promise<void> {
  const { testServer } = globalThis as unknown as {
    testServer: { server: EmbeddedPostgres; directory: string };
  };
  // For files that ran in this process, as with `--runInBand`.
  await stopShared();
  await testServer.server.stop();
  const failed = failedWorkers(testServer.directory);
  if (failed) {
    process.stderr.write(`Workers that ended with an error, which the console shows above:\n${failed}`);
    process.exitCode = 1;
  }
  rmSync(testServer.directory, { recursive: true, force: true });
  setTimeout(() => {
    process.stderr.write('Ended: a test file has left something running.\n');
    process.exit(1);
  }, LEFT_RUNNING_MS).unref();
}

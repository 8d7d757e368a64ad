import { rmSync } from 'node:fs';
import type { EmbeddedPostgres } from '../../src/db/embedded.js';

export default async function globalTeardown(): Promise<void> {
  const { testServer } = globalThis as unknown as {
    testServer: { server: EmbeddedPostgres; directory: string };
  };
  await testServer.server.stop();
  rmSync(testServer.directory, { recursive: true, force: true });
}

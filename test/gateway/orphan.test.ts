import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestDatabase } from '../support/database.js';
import { inDist } from '../support/dist.js';
import { loneEdgeEnv } from '../support/lone-edge.js';

/** A launcher that is killed while an edge starts can't be notified that the edge serves. */
test('an edge whose launcher has gone before it serves stops in an orderly way', async () => {
  const db = await createTestDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'gateway-orphan-'));
  const edge = fork(inDist('gateway/main.js'), {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    env: await loneEdgeEnv(db, folder),
  });
  let errors = '';
  edge.stderr!.on('data', (chunk) => {
    errors += chunk;
  });
  // Node gives no 'close' of a child that was disconnected.
  const ended = Promise.all([once(edge, 'exit'), once(edge.stderr!, 'end')]);
  edge.disconnect();
  try {
    expect((await ended)[0]).toEqual([0, null]);
    expect(errors).toBe('');
  } finally {
    edge.kill('SIGKILL');
    await db.close();
    rmSync(folder, { recursive: true, force: true });
  }
});

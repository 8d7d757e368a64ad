import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DOLLAR } from '../../src/lib/money.js';
import { ownIdentity, writeOwner } from '../../src/metering/owner.js';
import { costing, leaveSpool, recordOf } from '../metering/support.js';
import { createTestDatabase } from '../support/database.js';
import { inDist } from '../support/dist.js';
import { balanceOf, createTestKey, errorOf, postChat } from '../support/edge.js';
import { loneEdgeEnv } from '../support/lone-edge.js';
import { until } from '../support/until.js';

/** It can't look the edge before it up: the process numbers of each container are its own. */
test('a lone edge in a restarted container admits nothing that the one before it has spent', async () => {
  const db = await createTestDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'gateway-restarted-'));
  const poor = await createTestKey(db);
  const left = leaveSpool(join(folder, 'spool'), [[recordOf(poor, costing(DOLLAR))]]);
  writeOwner(left, { ...ownIdentity(), pidNamespace: 'pid:[1]' });
  const env = await loneEdgeEnv(db, folder);
  const url = `http://127.0.0.1:${env.PORT}`;
  const edge = spawn(process.execPath, [inDist('gateway/main.js')], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env,
  });
  const ended = once(edge, 'exit');
  const isReady = () =>
    fetch(`${url}/health/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  try {
    await until(isReady, { timeoutMs: 20_000, what: 'the edge to serve' });
    expect((await errorOf(await postChat(url, poor.key))).code).toBe('insufficient_credits');
    expect(await balanceOf(db, poor.accountId)).toBe('0.000000000000');
  } finally {
    edge.kill('SIGTERM');
    await ended;
    await db.close();
    rmSync(folder, { recursive: true, force: true });
  }
}, 60_000);

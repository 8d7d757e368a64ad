import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from '../hostile/raw.js';
import { createTestDatabase } from '../support/database.js';
import { inDist } from '../support/dist.js';
import { loneEdgeEnv } from '../support/lone-edge.js';
import { until } from '../support/until.js';

/** Of the edge, soft and hard: Node raises the one to the other. */
const LIMIT = 400;
const FLOOD = 500;

/** Several edges on one port: journeys/edge-processes. */
test('an edge limits connections of clients, so that file descriptors remain for its own work', async () => {
  const db = await createTestDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'gateway-open-files-'));
  const env = await loneEdgeEnv(db, folder);
  const url = `http://127.0.0.1:${env.PORT}`;
  const edge = spawn(
    'sh',
    ['-c', `ulimit -n ${LIMIT} && exec "$0" "$1"`, process.execPath, inDist('gateway/main.js')],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env,
    },
  );
  let log = '';
  edge.stdout.on('data', (chunk) => {
    log += chunk;
  });
  const ended = once(edge, 'exit');
  const files = () => readdirSync(`/proc/${edge.pid}/fd`).length;
  const answers = () =>
    fetch(`${url}/health`, { headers: { connection: 'close' } }).then(
      ({ ok }) => ok,
      () => false,
    );
  try {
    await until(answers, { what: 'the edge to serve' });
    const atRest = files();
    let closed = 0;
    const sockets = Array.from({ length: FLOOD }, () => open(url).on('close', () => closed++));
    await until(() => closed >= FLOOD - LIMIT / 2, {
      timeoutMs: 5_000,
      what: 'most connections to be closed',
    });
    expect(files()).toBeGreaterThan(atRest + 50);
    expect(files()).toBeLessThan(LIMIT / 2);
    await until(() => /the edge has no descriptor left .*LimitNOFILE/.test(log), {
      what: 'the line in the log',
    });
    for (const socket of sockets) socket.destroy();
    await until(answers, { timeoutMs: 5_000, what: 'a new connection to be served' });
  } finally {
    edge.kill('SIGTERM');
    await ended;
    await db.close();
    rmSync(folder, { recursive: true, force: true });
  }
}, 60_000);

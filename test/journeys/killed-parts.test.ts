import pg from 'pg';
import { leftBehind } from '../../src/db/server-process.js';
import { isRunning } from '../../src/lib/process-stat.js';
import { checkInvariants } from '../support/invariants.js';
import { createProduct, type Product } from '../support/product.js';
import { until } from '../support/until.js';

/** Four callers make some forty calls a second: the database is away for one, and at each moment several are under way. */
const TTFT_MS = 100;
/** Soon for one that hangs, long for one that waits for a processor. */
const HUNG_AFTER_SECONDS = 5;
/** The processes of `npm start`. */
const PROGRAMS = { edge: 'gateway', platform: 'platform', jobs: 'jobs' };

/** `npm start` with its own database: one or the other is killed, or freezes. */
describe('the whole product, parts of which are killed', () => {
  let product: Product;
  beforeAll(async () => {
    product = await createProduct({ HUNG_AFTER_SECONDS: String(HUNG_AFTER_SECONDS) });
    await product.start();
  }, 60_000);
  afterAll(() => product.remove(), 60_000);

  const call = (key: string) =>
    fetch(`${product.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({
        model: 'gateway/fast',
        max_tokens: 5,
        messages: [{ role: 'user', content: '[[sim ttft_ms=0 words=5]]' }],
      }),
    });
  const serverOf = () => leftBehind(`${product.dataDir}/postgres`);

  test('starts its database again on its port with its data, and charges every call that went on meanwhile', async () => {
    const { key } = await product.customer();
    const url = product.databaseUrl();
    const ids: string[] = [];
    const failures: number[] = [];
    let going = true;
    const worker = async (i: number): Promise<void> => {
      while (going) {
        const response = await fetch(`${product.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}` },
          body: JSON.stringify({
            model: 'gateway/fast',
            max_tokens: 5,
            messages: [{ role: 'user', content: `[[sim ttft_ms=${TTFT_MS} words=5]] ${i}` }],
          }),
        });
        await response.text();
        if (response.ok) ids.push(response.headers.get('x-request-id')!);
        else failures.push(response.status);
      }
    };
    const workers = Array.from({ length: 4 }, (_, i) => worker(i));
    try {
      for (let round = 0; round < 2; round++) {
        const before = ids.length;
        await until(() => ids.length > before + 20);
        const killed = serverOf()!;
        process.kill(killed.pid, 'SIGKILL');
        const back = await until(
          () => {
            const server = serverOf();
            return server && server.pid !== killed.pid ? server : undefined;
          },
          { what: 'the database to be back' },
        );
        expect(back.port).toBe(killed.port);
        // The platform answers from the database again: somebody new can come.
        await until(async () => product.customer().catch(() => undefined), { timeoutMs: 10_000 });
      }
    } finally {
      going = false;
      await Promise.all(workers);
    }
    expect(failures).toEqual([]);
    const pool = new pg.Pool({ connectionString: url, max: 2 });
    const charged = async () =>
      (await pool.query(`select id from usage_events where status = 'success' and id = any($1)`, [ids]))
        .rowCount;
    await until(async () => (await charged()) === ids.length, { what: 'every answer to be charged' });
    expect(await checkInvariants(pool)).toEqual([]);
    await pool.end();
  }, 90_000);

  test('takes calls again within seconds of each kill of its edge, and charges what the dead one had answered', async () => {
    const { accountId, key } = await product.customer();
    const ids = new Set<string>();
    for (let kills = 0; kills < 3; kills++) {
      const edge = product.pids('gateway/main.js')[0]!;
      process.kill(edge, 'SIGKILL');
      await until(() => !isRunning(edge), { what: 'its end' });
      // Requirement G12; the spool of the dead one is committed before.
      const answer = await until(
        async () => {
          const response = await call(key).catch(() => undefined);
          return response?.ok ? response : undefined;
        },
        { timeoutMs: 10_000, what: 'the edge to be back' },
      );
      await answer.text();
      ids.add(answer.headers.get('x-request-id')!);
    }
    const pool = new pg.Pool({ connectionString: product.databaseUrl(), max: 1 });
    await until(
      async () =>
        (
          await pool.query(`select from usage_events where account_id = $1 and status = 'success'`, [
            accountId,
          ])
        ).rowCount === ids.size,
      { what: 'each answer to be charged once' },
    );
    expect(await checkInvariants(pool)).toEqual([]);
    await pool.end();
  }, 60_000);

  test('replaces each of its processes that freezes, and charges what the edge had answered', async () => {
    const { key } = await product.customer();
    const names = Object.keys(PROGRAMS) as (keyof typeof PROGRAMS)[];
    const pidOf = (name: keyof typeof PROGRAMS) => product.pids(`${PROGRAMS[name]}/main.js`)[0];
    const frozen = names.map((name) => pidOf(name)!);
    const answer = await call(key);
    await answer.text();
    const before = product.output().length;
    const newOutput = () => product.output().slice(before);
    for (const pid of frozen) process.kill(pid, 'SIGSTOP');
    await until(() => !frozen.some(isRunning), { what: 'the end of all of them' });
    await until(() => names.every((name) => newOutput().includes(`${name} is back`)), {
      what: 'all of them to be back',
    });
    for (const name of names)
      expect(newOutput()).toContain(`${name} has not answered for ${HUNG_AFTER_SECONDS} s, killing it`);
    const { key: newKey } = await product.customer();
    expect((await call(newKey)).status).toBe(200);
    const pool = new pg.Pool({ connectionString: product.databaseUrl(), max: 1 });
    const id = answer.headers.get('x-request-id');
    const charged = async () => (await pool.query('select from usage_events where id = $1', [id])).rowCount;
    await until(async () => (await charged()) === 1, { what: 'the answer to be charged' });
    expect(await checkInvariants(pool)).toEqual([]);
    await pool.end();
  }, 60_000);
});

import pg from 'pg';
import { checkInvariants } from '../support/invariants.js';
import { createProduct, type Product } from '../support/product.js';
import { sized } from '../support/size.js';
import { until } from '../support/until.js';

const ROUNDS = sized(1, 3);

interface Entry {
  id: string;
  status: number;
  /** The whole answer came, [DONE] included. */
  complete: boolean;
}

/** One call; remembers what the client saw of it, whatever happens. */
async function callOnce(
  product: Product,
  key: string,
  prompt: string,
  stream: boolean,
  journal: Entry[],
): Promise<void> {
  let entry: Entry | undefined;
  try {
    const response = await fetch(`${product.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({
        model: 'gateway/fast',
        stream,
        max_tokens: 100,
        messages: [{ role: 'user', content: prompt }],
      }),
    });
    entry = { id: response.headers.get('x-request-id')!, status: response.status, complete: false };
    journal.push(entry);
    const text = await response.text();
    entry.complete = response.ok && (stream ? text.endsWith('data: [DONE]\n\n') : text.endsWith('}'));
  } catch {
    // Cut: the entry has what arrived, if anything did.
  }
}

/** The database's word on a journal: what was received whole is charged, nothing twice, and the books agree. */
async function compare(product: Product, journal: Entry[]): Promise<{ missing: string[]; charged: number }> {
  const pool = new pg.Pool({ connectionString: product.databaseUrl(), max: 2 });
  try {
    const complete = journal.filter((entry) => entry.complete).map((entry) => entry.id);
    // A spool that a kill left is adopted within seconds.
    const successes = async () =>
      (
        await pool.query<{ id: string }>(
          `select id from usage_events where status = 'success' and id = any($1)`,
          [complete],
        )
      ).rows;
    await until(async () => (await successes()).length === complete.length, {
      timeoutMs: 15_000,
      what: 'every answer to be charged',
    }).catch(() => undefined);
    const found = new Set((await successes()).map((row) => row.id));
    expect(await checkInvariants(pool)).toEqual([]);
    return { missing: complete.filter((id) => !found.has(id)), charged: found.size };
  } finally {
    await pool.end();
  }
}

describe('the whole product with calls in flight', () => {
  let product: Product;
  beforeAll(async () => {
    product = await createProduct();
    await product.start();
  }, 60_000);
  afterAll(() => product.remove(), 60_000);

  test('stops on SIGTERM without failing one of them, and every one is charged', async () => {
    const { key } = await product.customer();
    const journal: Entry[] = [];
    const calls = Array.from({ length: 20 }, (_, i) =>
      callOnce(
        product,
        key,
        `[[sim ttft_ms=800 chunk_ms=10 words=20${i % 2 ? '' : ' delay_ms=900'}]]`,
        i % 2 === 1,
        journal,
      ),
    );
    const pool = new pg.Pool({ connectionString: product.databaseUrl(), max: 1 });
    await until(() => journal.length > 0 || fetch(`${product.url}/health`).then((r) => r.ok));
    await pool.end();
    // Every call has passed admission once each stream has sent its headers: the others were made in between.
    await until(() => journal.length >= 10);
    expect(await product.terminate()).toBe(0);
    await Promise.all(calls);
    expect(journal.map((entry) => [entry.status, entry.complete])).toEqual(Array(20).fill([200, true]));
    await product.start();
    expect(await compare(product, journal)).toEqual({ missing: [], charged: 20 });
  }, 90_000);

  test('loses nothing that a client has received when everything is killed at once, time and again', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { key } = await product.customer();
      const journal: Entry[] = [];
      let going = true;
      const worker = async (i: number): Promise<void> => {
        while (going)
          await callOnce(
            product,
            key,
            `[[sim ttft_ms=5 chunk_ms=1 words=${5 + i}]] ${i}`,
            i % 2 === 1,
            journal,
          );
      };
      const workers = Array.from({ length: 8 }, (_, i) => worker(i));
      await until(() => journal.filter((entry) => entry.complete).length >= 60 + round * 17, {
        timeoutMs: 20_000,
      });
      await product.killAll();
      going = false;
      await Promise.all(workers);
      await product.start();
      const { missing, charged } = await compare(product, journal);
      expect(missing).toEqual([]);
      expect(charged).toBeGreaterThanOrEqual(60);
    }
  }, 120_000);
});

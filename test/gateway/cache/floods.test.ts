import { randomBytes } from 'node:crypto';
import type { Pool } from 'pg';
import { pgPool } from '../../../src/db/connection.js';
import { KEY_PREFIX, newApiKey, randomBase62 } from '../../../src/lib/key-form.js';
import { open, requestText, statusesOf } from '../../hostile/raw.js';
import { createTestKey } from '../../support/edge.js';
import { useEdge } from '../../support/edge-suite.js';
import { ownTime } from '../../support/own-time.js';
import { sized } from '../../support/size.js';
import { watchPool } from '../../support/watched-pool.js';

const REFRESH_MS = 2_500;
const VALUES = sized(10_000, 100_000);
const CONNECTIONS = 20;
const PIPELINED = 25;

/** Sends GET /v1/models once per value, many per connection. Returns how often each status came. */
async function ask(url: string, values: readonly string[]): Promise<Map<number, number>> {
  const counts = new Map<number, number>();
  const share = Math.ceil(values.length / CONNECTIONS);
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async (_, connection) => {
      const mine = values.slice(connection * share, (connection + 1) * share);
      const socket = open(url);
      let text = '';
      let wake: () => void = () => undefined;
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString('latin1');
        wake();
      });
      for (let at = 0; at < mine.length; at += PIPELINED) {
        const batch = mine.slice(at, at + PIPELINED);
        text = '';
        socket.write(
          batch.map((value) => requestText('GET /v1/models', [`Authorization: ${value}`])).join(''),
          'latin1',
        );
        // Each answer ends in its JSON.
        while (!text.endsWith('}') || text.split('HTTP/1.1 ').length <= batch.length) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
        for (const status of statusesOf(text)) counts.set(status, (counts.get(status) ?? 0) + 1);
      }
      socket.destroy();
    }),
  );
  return counts;
}

const pick = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)]!;

/** Anything a header can hold: noise, other schemes, SQL, and keys that are wrong by one character. */
function hostileValue(good: string): string {
  const at = Math.floor(Math.random() * good.length);
  const other = pick([...'0aZ-_ =+/%\'";\t\u00e9']);
  return pick([
    () =>
      randomBytes(1 + Math.floor(Math.random() * 60))
        .toString('latin1')
        .replace(/[^ -~\x80-\xff]/g, '.'),
    () => `Bearer ${KEY_PREFIX}${randomBase62(46)}`,
    () => `Bearer ${KEY_PREFIX}${randomBase62(Math.floor(Math.random() * 90))}`,
    () => `Bearer ${good.slice(0, at)}${other === good[at] ? '!' : other}${good.slice(at + 1)}`,
    () => `Bearer ${good.slice(0, at)}${good.slice(at + 1)}`,
    () => `Bearer ${good.slice(0, at)}${other}${good.slice(at)}`,
    () => `${pick(['Basic', 'Digest', 'Token', 'bearer:', 'Bearer,', 'BearerBearer', ''])} ${good}`,
    () =>
      `Bearer ${good}${pick([' ', ',', ';', "'", ' --'])}${pick(['x', good, "' or 1=1 --", '$1', '\\x00'])}`,
    () =>
      `Bearer ${pick(["' or 1=1 --", "'; drop table api_keys; --", '$(id)', '%00', '../../etc', 'null', '{}'])}`,
    () => `Bearer ${good.toUpperCase()}`,
  ])();
}

describe('a flood of credentials', () => {
  const suite = useEdge();
  let statements = 0;
  beforeAll(async () => {
    const pool: Pool = await pgPool(suite.db.sql);
    watchPool(pool, (text, ask) => {
      if (text.includes('from api_keys')) statements++;
      return ask();
    });
  });

  test(`${VALUES} credentials without the form of a key get 401 and cost no statement`, async () => {
    const { key } = await createTestKey(suite.db);
    expect([...(await ask(suite.edge.url, [`Bearer ${key}`]))]).toEqual([[200, 1]]);
    expect(statements).toBeGreaterThan(0);
    const before = statements;
    const started = performance.now();
    const values = Array.from({ length: VALUES }, () => hostileValue(key));
    const counts = await ask(suite.edge.url, values);
    expect([...counts]).toEqual([[401, VALUES]]);
    // The edge refreshes cached keys by itself.
    const refreshes = Math.ceil((performance.now() - started) / REFRESH_MS);
    expect(statements - before).toBeLessThanOrEqual(refreshes);
  }, 60_000);

  test('unknown keys of the right form cost at most 200 statements a second, and a valid key keeps working', async () => {
    const { key } = await createTestKey(suite.db);
    await ask(suite.edge.url, [`Bearer ${key}`]);
    const values = Array.from({ length: sized(6_000, 20_000) }, () => `Bearer ${newApiKey()}`);
    const before = statements;
    const started = performance.now();
    const slow: number[] = [];
    const time = ownTime();
    const began = time.now();
    let flooding = true;
    const good = (async () => {
      while (flooding) {
        const asked = time.now();
        expect([...(await ask(suite.edge.url, [`Bearer ${key}`]))]).toEqual([[200, 1]]);
        slow.push(time.now() - asked);
      }
    })();
    expect([...(await ask(suite.edge.url, values))]).toEqual([[401, values.length]]);
    flooding = false;
    await good;
    const ownSeconds = (time.now() - began) / 1000;
    time.stop();
    const seconds = (performance.now() - started) / 1000;
    // Twice the number of statements allowed.
    expect(values.length / ownSeconds).toBeGreaterThan(400);
    expect((statements - before) / seconds).toBeLessThanOrEqual(201);
    expect(slow.sort((a, b) => a - b)[slow.length >> 1]).toBeLessThan(250);
  }, 60_000);
});

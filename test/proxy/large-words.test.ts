import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { startTestProxy, type TestProxy } from '../support/proxy.js';
import { raw, type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.js';
import { routes } from './routes.js';
import { ask, post } from './support.js';

const SIZE = 62 * 1024;
const TRIES = 3;
/** Reading, checking and answering it takes a few. */
const LIMIT_MS = 200;
/** What expressions that find addresses look at more than once. */
const WORDS: [string, string][] = [
  ['letters and dots', 'a.'],
  ['letters and lines', 'a-'],
  ['dots', '.'],
  ['colons', 'a:'],
  ['slashes', '/a'],
  ['one word', 'a'],
  ['beginnings of a control', '[[sim '],
];

/** The proxy is one process for all: what it does for one caller keeps the others waiting. */
describe('a caller with 62 kB of odd words', () => {
  let db: TestDatabase;
  let node: ScriptedUpstream;
  let proxy: TestProxy;
  let quoting: TestProxy;
  beforeAll(async () => {
    db = await createTestDatabase();
    node = await startScriptedUpstream();
    proxy = await startTestProxy(db);
    const config = routes([{ model: 'gateway/fast', id: 'quoting', url: node.url }]);
    quoting = await startTestProxy(db, { config });
  });
  afterAll(async () => {
    await proxy.close();
    await quoting.close();
    await node.close();
    await db.close();
  });

  /** The least time of this process, which is proxy, node and caller at once, that a call takes. */
  async function leastMs(at: TestProxy, content: string): Promise<{ ms: number; text: string }> {
    let least = { ms: Number.POSITIVE_INFINITY, text: '' };
    for (let tries = 0; tries < TRIES && least.ms > LIMIT_MS; tries++) {
      const before = process.cpuUsage();
      const response = await post(`${at.url}/v1/chat/completions`, at.masterKey, ask(content));
      expect(response.status).toBe(400);
      const text = await response.text();
      const { user, system } = process.cpuUsage(before);
      const ms = (user + system) / 1_000;
      if (ms < least.ms) least = { ms, text };
    }
    return least;
  }
  const filled = (unit: string): string => unit.repeat(SIZE / unit.length);

  test.each(WORDS)('in a control of the simulator delays nobody: %s', async (_what, unit) => {
    const { ms, text } = await leastMs(
      proxy,
      `[[sim ${filled(unit.replaceAll('[', ''))}]] [[sim x]] ${filled(unit)}`,
    );
    expect(ms).toBeLessThan(LIMIT_MS);
    expect(text.length).toBeLessThan(1_000);
  });

  test.each(WORDS)('that a node quotes in its refusal delays nobody: %s', async (_what, unit) => {
    node.answer(raw(400, JSON.stringify({ error: { message: `Invalid value: ${filled(unit)}` } })));
    const { ms, text } = await leastMs(quoting, 'x');
    expect(ms).toBeLessThan(LIMIT_MS);
    expect(text.length).toBeLessThan(2_500);
  });
});

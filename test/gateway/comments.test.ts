import type { ServerResponse } from 'node:http';
import { balanceOf, createTestKey, postChat, type TestKey } from '../support/edge.js';
import { useEdge } from '../support/edge-suite.js';
import { DONE_EVENT, delta } from '../support/scripted-upstream.js';
import { until } from '../support/until.js';

const PING = ': ping\n\n';
const PING_EVERY_MS = 20;
const IDLE_MS = 300;

/** An upstream that may send comments while its model is silent, as LiteLLM and many nodes do. */
describe('an upstream that sends comments', () => {
  const suite = useEdge({ env: { UPSTREAM_TIMEOUT_SECONDS: '1.5', UPSTREAM_IDLE_SECONDS: '0.3' } });
  let caller: TestKey;
  beforeEach(async () => {
    caller = await createTestKey(suite.db);
  });

  /** Sends comments behind `first` until it is cut, or for so long and then `last`. */
  const pinging = (first: string, milliseconds = Number.POSITIVE_INFINITY, last = '') =>
    suite.upstream.answer((_request, response: ServerResponse) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(first + PING);
      let pings = 0;
      const front = setInterval(() => {
        if (++pings * PING_EVERY_MS >= milliseconds) response.end(last);
        else response.write(PING);
      }, PING_EVERY_MS);
      response.on('close', () => clearInterval(front));
    });
  const call = async () => (await postChat(suite.edge.url, caller.key, { stream: true })).text();
  const expectCut = async (text: string) => {
    expect(text).toContain('"code":"upstream_timeout"');
    expect(text).not.toContain('[DONE]');
    await until(() => suite.upstream.seen.at(-1)!.aborted);
    await suite.edge.settled();
    expect(await balanceOf(suite.db, caller.accountId)).toBe('1.000000000000');
  };

  test.each([
    ['instead of a first chunk', ''],
    ['in place of the next chunk', delta('Hel')],
  ])('%s is cut off like a silent one', async (_when, first) => {
    pinging(first);
    await expectCut(await call());
  });

  test('before the first chunk may do so for as long as it may take to begin', async () => {
    pinging('', 2 * IDLE_MS, delta('x') + DONE_EVENT);
    expect((await call()).replaceAll(':\n\n', '')).toBe(delta('x') + DONE_EVENT);
  });

  test('and then nothing is cut off after the pause that is allowed between chunks', async () => {
    suite.upstream.answer((_request, response) =>
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(PING),
    );
    const began = performance.now();
    await expectCut(await call());
    expect(performance.now() - began).toBeLessThan(1_400);
  });
});

import type { ServerResponse } from 'node:http';
import { balanceOf, createTestKey, postChat } from '../support/edge.js';
import { type EdgeSuite, useEdge } from '../support/edge-suite.js';
import { DONE_EVENT, delta } from '../support/scripted-upstream.js';
import { until } from '../support/until.js';

const PING = ': ping\n\n';
const PING_EVERY_MS = 20;
const IDLE_MS = 300;

/** An upstream that may send comments while its model is silent, as LiteLLM and many nodes do. */
describe('an upstream that sends comments', () => {
  const env = { UPSTREAM_IDLE_SECONDS: String(IDLE_MS / 1_000) };
  /** Waits for a first chunk for longer than any machine takes to send one. */
  const patient = useEdge({ env: { ...env, UPSTREAM_TIMEOUT_SECONDS: '60' } });
  const hasty = useEdge({ env: { ...env, UPSTREAM_TIMEOUT_SECONDS: '1.5' } });

  /** Sends comments behind `first` until it is cut, or for so long and then `last`. */
  const pinging =
    (first: string, milliseconds = Number.POSITIVE_INFINITY, last = '') =>
    (_request: unknown, response: ServerResponse): void => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(first + PING);
      let pings = 0;
      const front = setInterval(() => {
        if (++pings * PING_EVERY_MS >= milliseconds) response.end(last);
        else response.write(PING);
      }, PING_EVERY_MS);
      response.on('close', () => clearInterval(front));
    };
  const call = async ({ db, edge }: EdgeSuite) => {
    const caller = await createTestKey(db);
    return { caller, text: await (await postChat(edge.url, caller.key, { stream: true })).text() };
  };
  const expectCut = async (suite: EdgeSuite) => {
    const { caller, text } = await call(suite);
    expect(text).toContain('"code":"upstream_timeout"');
    expect(text).not.toContain('[DONE]');
    await until(() => suite.upstream.seen.at(-1)!.aborted);
    await suite.edge.settled();
    expect(await balanceOf(suite.db, caller.accountId)).toBe('1.000000000000');
  };

  test.each([
    ['instead of a first chunk', ''],
    ['in place of the next chunk', delta('Hel')],
  ])('%s is cut off like a silent upstream', async (_when, first) => {
    hasty.upstream.answer(pinging(first));
    await expectCut(hasty);
  });

  test('before the first chunk may do so until the timeout of the first byte', async () => {
    patient.upstream.answer(pinging('', 2 * IDLE_MS, delta('x') + DONE_EVENT));
    const { text } = await call(patient);
    expect(text.replaceAll(':\n\n', '')).toBe(delta('x') + DONE_EVENT);
  });

  test('and then sends nothing is cut off after the timeout between chunks', async () => {
    patient.upstream.answer((_request, response) =>
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(PING),
    );
    const began = performance.now();
    await expectCut(patient);
    // It could wait for a first chunk for twice as long.
    expect(performance.now() - began).toBeLessThan(30_000);
  });
});

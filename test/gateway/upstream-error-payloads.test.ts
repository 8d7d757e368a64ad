import { useEdgeBehindProxy } from '../support/behind-proxy.js';
import { createTestKey, postChat } from '../support/edge.js';
import { useEdge } from '../support/edge-suite.js';
import { chat, chunkEvent, DONE_EVENT, delta, stream } from '../support/scripted-upstream.js';

/** Edge and model proxy read the same answers: what one takes for an error, the other must not take for an answer. */
describe('an answer with status 200', () => {
  const suite = useEdge();
  const behindProxy = useEdgeBehindProxy(suite);

  const FORMS: [string, Record<string, unknown>, number][] = [
    ['no error', {}, 200],
    ['error: null', { error: null }, 200],
    ['error: false', { error: false }, 200],
    ['error: 0', { error: 0 }, 200],
    ['error: ""', { error: '' }, 200],
    ['an error', { error: { message: 'x' } }, 502],
    ['object: "error"', { object: 'error', message: 'x' }, 502],
    ['object: "error" with the status of a refusal', { object: 'error', message: 'x', code: 400 }, 400],
  ];

  test.each(FORMS)('is read the same by the edge and the model proxy: %s', async (_what, fields, status) => {
    const { key } = await createTestKey(suite.db, { virtualKey: behindProxy.proxy.masterKey });
    const first = chunkEvent({ choices: [{ index: 0, delta: { content: 'x' } }], ...fields });
    for (const [asStream, script] of [
      [false, chat(fields)],
      [true, stream([first, delta('y'), DONE_EVENT])],
    ] as const) {
      suite.upstream.answer(script);
      const toProxy = await fetch(`${behindProxy.proxy.url}/v1/chat/completions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${behindProxy.proxy.masterKey}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({ model: 'gateway/fast', messages: [], stream: asStream }),
      });
      const answers = [
        toProxy,
        await postChat(suite.edge.url, key, { stream: asStream }),
        await postChat(behindProxy.edge.url, key, { stream: asStream }),
      ];
      await Promise.all(answers.map((answer) => answer.text()));
      expect(answers.map((answer) => answer.status)).toEqual([status, status, status]);
    }
  });
});

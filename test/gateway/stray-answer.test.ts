import { createTestKey, errorOf, postChat, usageOf } from '../support/edge.js';
import { useEdge } from '../support/edge-suite.js';
import { chat, type Script } from '../support/scripted-upstream.js';

describe('an upstream that sends one answer too many', () => {
  const suite = useEdge();
  const answering = (content: string, before?: (...of: Parameters<Script>) => void): Script => {
    const answer = chat({ choices: [{ index: 0, message: { role: 'assistant', content } }] });
    return (request, response) => {
      before?.(request, response);
      response.setHeader('x-request-id', request.headers['x-request-id'] ?? '');
      return answer(request, response);
    };
  };
  const whole = (id: string): string => {
    const body = JSON.stringify({
      model: 'gateway/fast',
      choices: [{ message: { content: 'secret of A' } }],
    });
    return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-request-id: ${id}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  };

  test('never answers another call with it: that call fails, is free, and the connection is cut', async () => {
    const [a, b] = [await createTestKey(suite.db), await createTestKey(suite.db)];
    suite.upstream.answer(answering('for A'));
    const first = await postChat(suite.edge.url, a.key);
    expect(await first.text()).toContain('for A');

    // The one too many is on its way when the next call goes out over the same connection.
    suite.upstream.answer(
      answering('for B', (_request, response) =>
        response.socket!.write(whole(first.headers.get('x-request-id')!)),
      ),
    );
    const second = await postChat(suite.edge.url, b.key);
    expect(second.status).toBe(502);
    expect((await errorOf(second)).code).toBe('upstream_error');

    suite.upstream.answer(answering('for B again'));
    expect(await (await postChat(suite.edge.url, b.key)).text()).toContain('for B again');
    await suite.edge.settled();
    const events = await usageOf(suite.db, b.accountId);
    expect(events.map(({ status }) => status)).toEqual(['error', 'success']);
    expect(events[0]!.cost).toBe('0.000000000000');
  });
});

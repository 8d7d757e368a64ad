import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { startTestProxy, type TestProxy } from '../support/proxy.js';
import { until } from '../support/until.js';
import { routes } from './routes.js';
import { ask, newKey, post } from './support.js';

const answer = (content: string): string =>
  JSON.stringify({
    id: 'x',
    object: 'chat.completion',
    created: 1,
    model: 'internal-node',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  });

describe('a node that sends one answer too many', () => {
  let db: TestDatabase;
  let node: Server;
  let proxy: TestProxy;
  let config: string;
  let connections = 0;
  beforeAll(async () => {
    db = await createTestDatabase();
    node = createServer((request, response) => {
      let body = '';
      request.on('data', (piece) => (body += piece));
      request.on('end', () => {
        const { messages } = JSON.parse(body) as { messages: { content: string }[] };
        response.setHeader('content-type', 'application/json');
        // As soon as another call has arrived on the connection, the last answer comes once more.
        const { last } = request.socket as { last?: string };
        Object.assign(request.socket, { last: messages[0]!.content });
        response.end(answer(last ?? messages[0]!.content));
      });
    });
    node.on('connection', () => connections++);
    await new Promise<void>((done) => node.listen(0, '127.0.0.1', done));
    const url = `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
    config = routes([{ model: 'gateway/fast', id: 'node', url }]);
    proxy = await startTestProxy(db, { config });
  });
  afterAll(async () => {
    await proxy.close();
    node.closeAllConnections();
    await new Promise((done) => node.close(done));
    await db.close();
  });

  const answerTo = async (key: string, content: string): Promise<string> => {
    const response = await post(`${proxy.url}/v1/chat/completions`, key, ask(content));
    expect(response.status).toBe(200);
    const { choices } = (await response.json()) as { choices: { message: { content: string } }[] };
    return choices[0]!.message.content;
  };

  test("never answers another account's next call with it", async () => {
    const one = await newKey(proxy, 'one');
    const other = await newKey(proxy, 'other');
    await until(async () => {
      const began = performance.now();
      expect(await answerTo(one, 'a secret')).toBe('a secret');
      const answer = await answerTo(other, 'hello');
      // A connection that has rested for a quarter of a second is shared: a busy machine may be too slow.
      if (performance.now() - began > 250) {
        await proxy.close();
        proxy = await startTestProxy(db, { config });
        connections = 0;
        return false;
      }
      expect(answer).toBe('hello');
      return true;
    });
    // Its own account may see it: the connection is used again.
    expect(await answerTo(one, 'more')).toBe('a secret');
    expect(connections).toBe(2);
  });
});

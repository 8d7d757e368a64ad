import { createTestKey } from '../../support/edge.js';
import { useEdge } from '../../support/edge-suite.js';
import { chat, type Script } from '../../support/scripted-upstream.js';
import { until } from '../../support/until.js';
import { chatBody, Upload } from '../../support/upload.js';

describe('a refused request whose body does not come', () => {
  const suite = useEdge();

  test('is cut soon after its answer; one whose body is there waits for the answer ahead of it', async () => {
    const { key } = await createTestKey(suite.db);
    let reply = (): void => undefined;
    const later: Script = (request, response) => {
      reply = () => void chat()(request, response);
    };
    suite.upstream.answer(later);
    const body = chatBody(1_000);
    const served = await Upload.start(suite.edge.url, key, { length: body.length });
    served.send(
      `${body}POST /v1/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Length: 2\r\n\r\n{}`,
    );
    await until(() => suite.upstream.seen.length === 1);

    const refused = await Upload.start(suite.edge.url, 'nonsense', { length: 1_000, asked: false });
    expect(await refused.answer()).toMatchObject({ status: 401, code: 'invalid_api_key' });
    // The request behind was refused before.
    await until(() => refused.socket.destroyed, { timeoutMs: 10_000, what: 'the connection to be cut' });

    expect(served.socket.destroyed).toBe(false);
    reply();
    await until(() => served.text.includes('endpoint_not_supported'), { what: 'the second answer' });
    expect(served.status).toBe(200);
    served.socket.destroy();
  });
});

import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { DEAD_URL, routes } from '../proxy/routes.js';
import { ask, post } from '../proxy/support.js';
import { selfSigned } from '../support/certificate.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { startTestProxy } from '../support/proxy.js';

describe('the cause of a failed connection', () => {
  let db: TestDatabase;
  let secure: Server;
  beforeAll(async () => {
    db = await createTestDatabase();
    secure = createServer(selfSigned('localhost')).listen(0, '127.0.0.1');
    await once(secure, 'listening');
  });
  afterAll(async () => {
    secure.close();
    await db.close();
  });
  const port = (): number => (secure.address() as AddressInfo).port;

  const CAUSES: [string, string, () => string][] = [
    ['a wrong port', 'ECONNREFUSED', () => DEAD_URL],
    ['an unknown certificate', 'DEPTH_ZERO_SELF_SIGNED_CERT', () => `https://localhost:${port()}`],
    ['a name that does not resolve', '(?:ENOTFOUND|EAI_AGAIN)', () => 'http://node-7.invalid'],
    ['https called by http', '[A-Z_]+', () => `http://127.0.0.1:${port()}`],
  ];

  test.each(CAUSES)('is logged for the operator and hidden from callers: %s', async (_what, code, url) => {
    const lines: { msg: string; reason?: string; cause?: string }[] = [];
    const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
    const proxy = await startTestProxy(db, {
      config: routes([{ model: 'gateway/fast', id: 'node', url: url() }]),
      settings: { numRetries: 0, allowedFails: 1 },
      log: log as never,
    });
    const answer = await post(`${proxy.url}/v1/chat/completions`, proxy.masterKey, ask('Hi'));
    expect(answer.status).toBeGreaterThanOrEqual(502);
    const info = await fetch(`${proxy.url}/v1/model/info`, {
      headers: { authorization: `Bearer ${proxy.masterKey}` },
    });
    const { data } = (await info.json()) as { data: unknown[] };
    expect(data).toMatchObject([{ last_failure: expect.stringMatching(`^${code}$`) }]);
    expect(await answer.text()).not.toMatch(
      code === '[A-Z_]+' ? /EPROTO|HPE|SOCKET|RESET/ : new RegExp(code),
    );
    await proxy.close();
    const parked = lines.find(({ msg }) => msg === 'a deployment is parked');
    expect(parked).toMatchObject({ reason: 'connection', cause: expect.stringMatching(`^${code}$`) });
    expect(JSON.stringify(lines)).not.toContain(url());
  });
});

import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { operate } from '../graphql/support.js';
import { writeLongPrompts } from '../prompts/long-prompts.js';
import { call, signUp } from '../support/api.js';
import { usePlatform } from '../support/platform-suite.js';
import { until } from '../support/until.js';

/** 200 KB for each prompt of the account. */
const CONTENTS = '{ viewer { prompts(first: 100) { nodes { activeVersion { content } } } } }';

describe('large responses of the platform', () => {
  const suite = usePlatform({ own: true });

  /** Asks and takes the head of the answer, but nothing of its body. */
  const askAndStall = (token: string): Promise<[ClientRequest, IncomingMessage]> =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const asked = request(`${suite.url}/graphql`, { method: 'POST', agent: false, headers });
      asked.once('response', (answer) => resolve([asked, answer])).once('error', reject);
      asked.end(JSON.stringify({ query: CONTENTS }));
    });

  test('of one account take at most half of their memory, which is freed when their readers leave', async () => {
    const hog = await signUp(suite.url);
    const stranger = await signUp(suite.url);
    await writeLongPrompts(suite.db, hog.user.id, 100);
    await writeLongPrompts(suite.db, stranger.user.id, 10);
    const stalled: ClientRequest[] = [];
    try {
      for (let n = 0; n < 3; n++) {
        const [asked, answer] = await askAndStall(hog.token);
        stalled.push(asked);
        expect(answer.statusCode).toBe(200);
      }
      // A fourth would be 80 MB.
      const refused = await operate(suite.url, CONTENTS, {
        token: hog.token,
        headers: { 'accept-encoding': 'br' },
      });
      expect([refused.status, refused.body.errors![0]!.extensions]).toEqual([
        503,
        expect.objectContaining({ code: 'service_unavailable', retryAfterSeconds: 1 }),
      ]);
      expect(refused.headers.get('retry-after')).toBe('1');
      // Small answers pass, and so do large ones of others.
      expect((await call(suite.url, 'GET', '/api/auth/me', { token: hog.token })).status).toBe(200);
      expect((await operate(suite.url, CONTENTS, { token: stranger.token })).status).toBe(200);
    } finally {
      for (const asked of stalled) asked.destroy();
    }
    await until(async () => (await operate(suite.url, CONTENTS, { token: hog.token })).status === 200, {
      what: 'the memory to be given back',
    });
    // Whoever reads them gives theirs back too: there is room for three.
    for (let n = 0; n < 3; n++) {
      expect((await operate(suite.url, CONTENTS, { token: hog.token })).status).toBe(200);
    }
  });
});

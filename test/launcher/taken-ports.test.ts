import { createServer, type Server } from 'node:net';
import { describeChildren, type Ports } from '../../src/launcher/children.js';
import { call } from '../support/api.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { fakeChildren, type TestLaunch, temporaryFolder, testLaunch } from './support.js';

/**
 * Ports that the launcher found free are taken before a child listens on them. The child that loses a port is the real process
 * each time, and the others are small ones; in the end, all children with a port are real.
 */
describe('the launcher whose chosen ports other programs take first', () => {
  let db: TestDatabase;
  let folder: ReturnType<typeof temporaryFolder>;
  let launched: TestLaunch | undefined;
  const others: Server[] = [];
  beforeAll(async () => {
    db = await createTestDatabase();
    folder = temporaryFolder();
  });
  afterAll(async () => {
    launched?.launcher.stop('the end of the test');
    await launched?.launcher.ended;
    for (const other of others) other.close();
    folder.remove();
    await db.close();
  });

  test('starts again with other ports, which all children learn', async () => {
    const attempts: Ports[] = [];
    const taken: (keyof Ports)[] = ['platform', 'edge'];
    launched = testLaunch(
      folder.path,
      (config, databaseUrl, ports) => {
        const name = taken[attempts.push(ports) - 1];
        const real = describeChildren(config, databaseUrl, ports);
        const small = fakeChildren(folder.path)(config, databaseUrl, ports);
        // Jobs get no port and report none.
        if (!name) return { ...real, jobs: small.jobs };
        others.push(createServer((socket) => socket.destroy()).listen(ports[name], '127.0.0.1'));
        return { ...small, [name]: real[name] };
      },
      { DATABASE_URL: db.url, LOG_LEVEL: 'fatal' },
    );
    const { launcher, output } = launched;
    const { url } = await launcher.ready;
    // Another program of this machine may have taken a port again.
    expect(attempts.length).toBeGreaterThan(taken.length);
    for (const name of taken) expect(output()).toContain(`another program took the port of ${name};`);
    expect(url).toBe(`http://localhost:${attempts.at(-1)!.edge}`);
    // From the edge to the platform, and from the edge to the simulator.
    const signup = await call<{ access_token: string }>(url, 'POST', '/api/auth/signup', {
      body: { email: 'first@example.com', password: 'a customer of the tests', name: 'First' },
    });
    const token = signup.body.access_token;
    const made = await call<{ key: string }>(url, 'POST', '/api/keys', { token, body: { name: 'first' } });
    const answer = await call(url, 'POST', '/v1/chat/completions', {
      token: made.body.key,
      body: { model: 'gateway/fast', max_tokens: 5, messages: [{ role: 'user', content: 'Hello!' }] },
    });
    expect(answer.status).toBe(200);
    launcher.stop('SIGTERM');
    expect(await launcher.ended).toBe(0);
  }, 60_000);
});

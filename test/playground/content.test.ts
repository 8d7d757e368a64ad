import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { errorTable } from '../../src/errors.js';
import { createEnvelopes } from '../../src/services/envelopes.js';
import { resealAll } from '../../src/services/keys/reseal.service.js';
import { createVirtualKeyClient } from '../../src/services/keys/virtual-keys.js';
import { call, type ErrorAnswer, signUp } from '../support/api.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { INHERITED_ENV } from '../support/inherited-env.js';
import { startTestPlatform, type TestPlatform } from '../support/platform.js';
import { freePorts } from '../support/product-edges.js';
import { productProcess } from '../support/product-process.js';
import { startTestProxy, type TestProxy } from '../support/proxy.js';
import { TEST_SECRETS } from '../support/secrets.js';
import { until } from '../support/until.js';
import { ask, FAST, type Session } from './support.js';

const canary = (name: string): string => `cnry${name}${randomBytes(12).toString('hex')}`;

/** Every file of the server that may hold rows of a database, or changes of them. */
async function databaseFiles(db: TestDatabase): Promise<string[]> {
  const { rows } = await db.pool.query<{ folder: string; oid: string }>(
    `select current_setting('data_directory') as folder,
      (select oid::text from pg_database where datname = current_database()) as oid`,
  );
  const { folder, oid } = rows[0]!;
  return [join(folder, 'base', oid), join(folder, 'pg_wal')].flatMap((at) =>
    readdirSync(at)
      .map((name) => join(at, name))
      .filter((path) => statSync(path).isFile()),
  );
}

/** The files that contain each text. */
function found(files: readonly string[], texts: readonly string[]): Map<string, string[]> {
  const places = new Map(texts.map((text): [string, string[]] => [text, []]));
  for (const path of files) {
    const content = readFileSync(path);
    for (const text of texts) if (content.includes(text)) places.get(text)!.push(path);
  }
  return places;
}

describe('prompts and answers at rest', () => {
  let db: TestDatabase;
  let proxy: TestProxy;
  let platform: TestPlatform;
  let token: string;
  const start = (env: Record<string, string> = {}) =>
    startTestPlatform(db, {
      env: { UPSTREAM_URL: proxy.url, ...env },
      virtualKeys: createVirtualKeyClient({ url: proxy.url, masterKey: proxy.masterKey }),
    });

  beforeAll(async () => {
    db = await createTestDatabase();
    // What fails is asked once, and its node stays in use.
    proxy = await startTestProxy(db, { settings: { numRetries: 0, allowedFails: 1_000 } });
    platform = await start();
    ({ token } = await signUp(platform.url));
  }, 60_000);
  afterAll(async () => {
    await platform.close();
    await proxy.close();
    await db.close();
  });
  const read = (id: string, who = token) =>
    call<Session>(platform.url, 'GET', `/api/playground/${id}`, { token: who });

  test('are in no file of the database and in no write-ahead log, not even those of a deleted session', async () => {
    const prompt = canary('prompt');
    const system = canary('system');
    const gone = canary('gone');
    const { body } = await ask(platform.url, token, [FAST], `${prompt} [[sim words=12]]`, {
      system_prompt: system,
    });
    const deleted = await ask(platform.url, token, [FAST], `${gone} [[sim words=2]]`);
    await call(platform.url, 'DELETE', `/api/playground/${deleted.body.id}`, { token });
    const answer = body.runs[0]!.response_content!;
    expect(answer.length).toBeGreaterThan(40);
    // Something that does stand there, so that the search is known to find.
    const known = canary('known');
    const secret = [prompt, system, gone, answer.slice(0, 30), Buffer.from(prompt).toString('hex')];
    const places = await until(async () => {
      await db.pool.query(`update accounts set name = $1`, [known]);
      await db.pool.query('checkpoint');
      try {
        const all = found(await databaseFiles(db), [known, ...secret]);
        // The log that has it may be gone as well, when others write much.
        return all.get(known)!.some((path) => path.includes('pg_wal')) ? all : undefined;
      } catch (error) {
        // A log that is no longer needed goes at any time.
        if ((error as { code?: unknown }).code !== 'ENOENT') throw error;
        return undefined;
      }
    });
    expect(places.get(known)!.some((path) => path.includes('pg_wal'))).toBe(true);
    expect(places.get(known)!.some((path) => path.includes('base'))).toBe(true);
    for (const text of secret) expect(places.get(text)).toEqual([]);
    expect((await read(body.id)).body).toMatchObject({ prompt: body.prompt, system_prompt: system });
  });

  test("belong to their account, row and field: elsewhere, or with a changed bit, they can't be read", async () => {
    const [first, second] = await Promise.all(
      ['one', 'two'].map((word) =>
        ask(platform.url, token, [FAST], `${word} [[sim words=3]]`, { system_prompt: word }),
      ),
    );
    const { token: bob } = await signUp(platform.url);
    const bobs = await ask(platform.url, bob, [FAST], 'three [[sim words=3]]');
    const sealed = async (id: string) =>
      (
        await db.pool.query<{ prompt: string; system: string; response: string }>(
          `select prompt_sealed as prompt, system_prompt_sealed as system, response_sealed as response
           from playground_sessions s join playground_runs r on r.session_id = s.id where s.id = $1`,
          [id],
        )
      ).rows[0]!;
    const own = await sealed(first!.body.id);
    const others = await sealed(second!.body.id);
    const foreign = await sealed(bobs.body.id);
    const put = (prompt: string) =>
      db.pool.query('update playground_sessions set prompt_sealed = $1 where id = $2', [
        prompt,
        first!.body.id,
      ]);
    // The last sign of the text may stand for bits that aren't there.
    const at = own.prompt.length - 6;
    const flipped = `${own.prompt.slice(0, at)}${own.prompt[at] === 'A' ? 'B' : 'A'}${own.prompt.slice(at + 1)}`;
    for (const wrong of [others.prompt, own.system, own.response, foreign.prompt, flipped]) {
      await put(wrong);
      const { status, text } = await read(first!.body.id);
      expect([status, text]).toEqual([500, expect.stringContaining('internal_error')]);
    }
    await put(own.prompt);
    expect((await read(first!.body.id)).body).toEqual(first!.body);
  });

  test('are in no log, no metric and no error, however much is logged and however a run fails', async () => {
    const [port, metricsPort] = await freePorts(2);
    const url = `http://127.0.0.1:${port}`;
    const logging = productProcess(
      'platform',
      {
        ...INHERITED_ENV,
        ...TEST_SECRETS,
        NODE_ENV: 'development',
        LOG_LEVEL: 'trace',
        DATABASE_URL: db.url,
        PLATFORM_PORT: String(port),
        METRICS_PORT: String(metricsPort),
        UPSTREAM_URL: proxy.url,
      },
      4 * 1024 * 1024,
    );
    await logging.start();
    const prompt = canary('logged');
    const answers: string[] = [];
    const errors: string[] = [];
    for (const control of ['words=9', 'status=500', 'status=400', 'words=30 abort_after=9', 'garbage=1']) {
      const { body } = await ask(url, token, [FAST], `${prompt} [[sim ${control}]]`, {
        system_prompt: prompt,
      });
      for (const { response_content: text, error_message: error } of body.runs) {
        if (text) answers.push(text.slice(0, 20));
        if (error) errors.push(error);
      }
    }
    expect([answers.map((text) => text.length), errors.length]).toEqual([[20, 20], 4]);
    errors.push((await ask(url, token, [FAST], prompt, { parameters: { top_p: prompt } })).text);
    errors.push((await ask(url, token, [FAST], prompt, { system_prompt: `${prompt}\ud800` })).text);
    errors.push((await ask(url, token, [FAST, FAST], prompt)).text);
    await ask(url, token, [prompt], prompt);
    const { rows } = await db.pool.query<{ id: string }>(
      'select id from playground_sessions order by id desc limit 1',
    );
    await db.pool.query(`update playground_sessions set prompt_sealed = 'damaged' where id = $1`, [
      rows[0]!.id,
    ]);
    const failed = await call(url, 'GET', `/api/playground/${rows[0]!.id}`, { token });
    expect(failed.status).toBe(500);
    await until(() => logging.output().includes('request failed'), { what: 'the failure to be logged' });
    const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    expect(metrics).toContain('playground_runs_total');
    for (const output of [logging.output(), metrics, failed.text, ...errors]) {
      expect(output).not.toContain(prompt);
      for (const answer of answers) expect(output).not.toContain(answer);
    }
    expect(logging.output()).not.toMatch(/Bearer sk-|virtual_key/);
    await logging.end('SIGTERM');
  });

  // The last: what a process needs to start is sealed with the key that it ends with.
  test('can be read before, during and after a change of ENCRYPTION_KEY, which seals none of them again', async () => {
    const { body } = await ask(platform.url, token, [FAST], 'Stays. [[sim words=3]]');
    const { body: shown } = await ask(platform.url, token, [FAST], 'Shown. [[sim words=3]]');
    const { body: sharing } = await call<{ share_slug: string }>(
      platform.url,
      'POST',
      `/api/playground/${shown.id}/share`,
      { token },
    );
    const renewed = 'another-encryption-key-of-the-tests-0123456789';
    const both = { ENCRYPTION_KEY: renewed, ENCRYPTION_KEY_PREVIOUS: TEST_SECRETS.ENCRYPTION_KEY };
    const texts = async () =>
      (await db.pool.query('select id, prompt_sealed from playground_sessions order by id')).rows;
    const before = await texts();
    const during = await start(both);
    const path = `/api/playground/${body.id}`;
    const asMade = async (at: TestPlatform) => (await call<Session>(at.url, 'GET', path, { token })).body;
    expect(await asMade(during)).toEqual(body);
    const envelopes = createEnvelopes({
      encryptionKey: renewed,
      encryptionKeyPrevious: TEST_SECRETS.ENCRYPTION_KEY,
    });
    const context = { em: db.orm.em.fork(), log: platform.log } as Parameters<typeof resealAll>[0];
    // Read without a pause while it goes on.
    let going = true;
    const reading = (async () => {
      while (going) expect(await asMade(during)).toEqual(body);
    })();
    expect(await resealAll(context, { envelopes, batch: 1 })).toMatchObject({ left: 0, unreadable: 0 });
    going = false;
    await reading;
    await during.close();
    expect(await texts()).toEqual(before);
    // Only the new key is known now, and the old one opens nothing.
    const own = await call<ErrorAnswer>(platform.url, 'GET', path, { token });
    expect([own.status, own.body.error.message]).toEqual([503, expect.stringContaining('Your playground')]);
    // Visitors have no playground, and know no operator.
    const shared = `/api/playground/shared/${sharing.share_slug}`;
    const visited = await call<ErrorAnswer>(platform.url, 'GET', shared);
    expect([visited.status, visited.body.error]).toEqual([
      503,
      expect.objectContaining({
        code: 'service_unavailable',
        message: errorTable.service_unavailable.message,
      }),
    ]);
    const after = await start({ ENCRYPTION_KEY: renewed });
    expect(await asMade(after)).toEqual(body);
    expect((await ask(after.url, token, [FAST], 'And on. [[sim words=2]]')).body.runs[0]!.status).toBe(
      'success',
    );
    await after.close();
    const back = createEnvelopes({
      encryptionKey: TEST_SECRETS.ENCRYPTION_KEY,
      encryptionKeyPrevious: renewed,
    });
    await resealAll(context, { envelopes: back });
  });
});

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'undici';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { describeWith } from '../support/describe-with.js';
import { inDist } from '../support/dist.js';
import { INHERITED_ENV } from '../support/inherited-env.js';
import { limitOpenFiles, openFilesOf, PRLIMIT } from '../support/prlimit.js';
import { startScriptedUpstream } from '../support/scripted-upstream.js';
import { until } from '../support/until.js';
import { routes } from './routes.js';
import { ask, chunksOf, post } from './support.js';

const MASTER_KEY = 'sk-master-of-more-than-thirty-two-bytes';
const OWN_KEY = 'sk-another-master-key-of-more-than-32-bytes';
const OWN_KEY_ROUTING = readFileSync(resolve('proxy.config.yaml'), 'utf8').replace(
  'os.environ/UPSTREAM_MASTER_KEY',
  OWN_KEY,
);
const PRODUCTION = {
  NODE_ENV: 'production',
  JWT_SECRET: 'Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MGFiY2RlZg',
  ENCRYPTION_KEY: 'cXV4Zm9vYmFyYmF6MTIzNDU2Nzg5MGFiY2RlZg',
  WEBHOOK_SECRET: 'YmF6cXV4Zm9vYmFyMTIzNDU2Nzg5MGFiY2RlZg',
};

/** Well below what it waits for the node registry. */
const LOOK_MS = 500;

interface Started {
  child: ChildProcess;
  /** What it says once it serves. */
  ready: Promise<{ type: string; url: string }>;
  exited: Promise<{ code: number | null; errors: string }>;
  /** What it has logged. */
  output(): string;
}

describe('the process of the model proxy', () => {
  let db: TestDatabase;
  let directory: string;
  const children: ChildProcess[] = [];

  /** Started together, each a second of a core; a test takes the ones that it is about. */
  let started: Record<
    'usual' | 'refused' | 'allowed' | 'steered' | 'wrongKey' | 'ownKey' | 'wrongLine',
    Started
  >;
  const file = (name: string) => join(directory, name);

  beforeAll(async () => {
    db = await createTestDatabase();
    directory = mkdtempSync(join(tmpdir(), 'gateway-proxy-'));
    writeFileSync(file('literal.yaml'), OWN_KEY_ROUTING);
    writeFileSync(
      file('routing.yaml'),
      'model_list:\n  - model_name: a\n    litellm_params: { model: openai/x }\n',
    );
    const ownKey = { PROXY_CONFIG: file('literal.yaml'), UPSTREAM_MASTER_KEY: OWN_KEY, LOG_LEVEL: 'info' };
    started = {
      usual: start(),
      refused: start(PRODUCTION),
      allowed: start({ ...PRODUCTION, ALLOW_SIMULATOR: '1' }),
      steered: start({ ...PRODUCTION, ALLOW_SIMULATOR: '1', SIMULATOR_CONTROLS: '1' }),
      wrongKey: start({ PROXY_CONFIG: file('literal.yaml') }),
      ownKey: start(ownKey),
      wrongLine: start({ PROXY_CONFIG: file('routing.yaml') }),
    };
  });
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
    await db.close();
  });

  function start(environment: Record<string, string> = {}): Started {
    const child = fork(inDist('proxy/main.js'), {
      silent: true,
      execArgv: [],
      env: {
        ...INHERITED_ENV,
        NODE_ENV: 'development',
        DATABASE_URL: db.url,
        DATA_DIR: directory,
        UPSTREAM_MASTER_KEY: MASTER_KEY,
        PROXY_PORT: '0',
        LOG_LEVEL: 'error',
        ...environment,
      },
    });
    children.push(child);
    let output = '';
    child.stdout!.on('data', (bytes) => {
      output += bytes;
    });
    let errors = '';
    child.stderr!.on('data', (bytes) => {
      errors += bytes;
    });
    // Its last words may be read after its exit. Node gives no 'close' of a child that was disconnected.
    const exited = Promise.all([once(child, 'exit'), once(child.stderr!, 'end')]).then(([[code]]) => ({
      code: code as number | null,
      errors,
    }));
    const ready = once(child, 'message').then(([message]) => message as { type: string; url: string });
    return { child, exited, ready, output: () => output };
  }

  const chat = (url: string, body: unknown, key = MASTER_KEY) =>
    post(`${url}/v1/chat/completions`, key, body);

  test('brings its own simulator, and finishes streams before it ends', async () => {
    const { child, exited, ready } = started.usual;
    const { type, url } = await ready;
    expect(type).toBe('ready');
    expect((await fetch(`${url}/health/ready`)).status).toBe(200);
    expect((await fetch(`${url}/health`)).status).toBe(200);
    expect(await (await fetch(`${url}/health/readiness`)).json()).toEqual({ status: 'healthy' });
    expect(await (await fetch(`${url}/health/liveliness`)).json()).toBe("I'm alive!");
    const response = await chat(url, ask('[[sim words=40 chunk_ms=10]] go on', { stream: true }));
    child.kill('SIGTERM');
    child.kill('SIGTERM');
    const text = await response.text();
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(chunksOf(text).length).toBeGreaterThan(40);
    expect((await exited).code).toBe(0);
  });

  test('refuses to serve simulations in production, in one line, unless they are allowed', async () => {
    const refused = await started.refused.exited;
    expect(refused.code).toBe(78);
    expect(refused.errors.trim().split('\n')).toEqual([
      expect.stringMatching(/^configuration: PROXY_CONFIG: gateway\/fast, .*simulator.*ALLOW_SIMULATOR=1$/),
    ]);
    const { url } = await started.allowed.ready;
    expect((await chat(url, ask('hello'))).status).toBe(200);
  });

  test("ignores the simulator's controls in production, unless they are allowed", async () => {
    const faulty = ask('[[sim status=400 ttft_ms=0]] hello');
    const { url } = await started.allowed.ready;
    const answer = await chat(url, faulty);
    expect(answer.status).toBe(200);
    // It is text like any other.
    expect(await answer.text()).toMatch(/simulated/);
    expect((await chat((await started.steered.ready).url, faulty)).status).toBe(400);
  });

  describeWith('util-linux', PRLIMIT, 'with few open files', () => {
    test('blames no node for a connection for which it lacks a file descriptor', async () => {
      const { child, ready } = started.steered;
      const { url } = await ready;
      // Takes the connection to the node that there is.
      const stream = await chat(url, ask('[[sim words=1000 chunk_ms=20]] go on', { stream: true }));
      const caller = new Client(url);
      const body = JSON.stringify(ask('hello'));
      const headers = { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' };
      const again = () => caller.request({ method: 'POST', path: '/v1/chat/completions', headers, body });
      await (await caller.request({ method: 'GET', path: '/health' })).body.dump();
      const usual = openFilesOf(child.pid!);
      limitOpenFiles(child.pid!, 10);
      for (let i = 0; i < 6; i++) {
        const refused = await again();
        expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '1']);
        expect(await refused.body.json()).toMatchObject({ error: { code: 'upstream_unavailable' } });
      }
      limitOpenFiles(child.pid!, usual);
      const answer = await again();
      expect(answer.statusCode).toBe(200);
      await answer.body.dump();
      await caller.close();
      await stream.body!.cancel();
    });
  });

  test('serves no call before it knows which nodes take no calls', async () => {
    const node = await startScriptedUpstream();
    writeFileSync(file('drained.yaml'), routes([{ model: 'gateway/fast', id: 'node', url: node.url }]));
    const own = await createTestDatabase();
    const registry = await own.pool.connect();
    await registry.query('begin; lock table gpu_nodes in access exclusive mode');
    await registry.query(
      `insert into gpu_nodes (id, name, provider, region, gpu_type, hourly_cost_usd, endpoint_url, endpoint_key, status,
         created_at, updated_at) values (gen_random_uuid(), 'n', 'p', 'r', 'g', 1, $1, $2, 'draining', now(), now())`,
      [node.url, new URL(node.url).host],
    );
    const { child, ready } = start({ PROXY_CONFIG: file('drained.yaml'), DATABASE_URL: own.url });
    // Looked for often: it waits for two seconds and no longer.
    await until(
      async () => {
        const { rowCount } = await own.pool.query(
          `select 1 from pg_locks where relation = 'gpu_nodes'::regclass and not granted`,
        );
        return rowCount! > 0;
      },
      { intervalMs: 20 },
    );
    expect(await Promise.race([ready, delay(LOOK_MS)])).toBeUndefined();
    await registry.query('commit');
    registry.release();
    const { url } = await ready;
    expect((await chat(url, ask('hello'))).status).toBe(503);
    expect(node.seen).toEqual([]);
    child.kill('SIGKILL');
    await own.close();
    await node.close();
  });

  test('ends when its parent is gone', async () => {
    const { child, exited, ready } = started.allowed;
    await ready;
    child.disconnect();
    expect((await exited).code).toBe(0);
  });

  test('refuses another master key in the routing file, without printing it', async () => {
    const { code, errors } = await started.wrongKey.exited;
    expect([code, errors.trim().split('\n')]).toEqual([
      78,
      [
        expect.stringMatching(
          /^configuration: literal\.yaml: general_settings\.master_key .*UPSTREAM_MASTER_KEY/,
        ),
      ],
    ]);
    expect(errors).not.toContain(OWN_KEY);
    const { url } = await started.ownKey.ready;
    expect((await chat(url, ask('hello'), OWN_KEY)).status).toBe(200);
  });

  test('reloads the file on SIGHUP; an invalid file changes nothing and is logged', async () => {
    const path = file('literal.yaml');
    const { child, ready, output } = started.ownKey;
    const { url } = await ready;
    const models = async () => {
      const headers = { authorization: `Bearer ${OWN_KEY}` };
      const { data } = (await (await fetch(`${url}/v1/models`, { headers })).json()) as {
        data: { id: string }[];
      };
      return data.map(({ id }) => id);
    };
    const slow = chat(url, ask('[[sim words=40 chunk_ms=20]] go on', { stream: true }), OWN_KEY);
    writeFileSync(path, 'model_list: 7\n');
    child.kill('SIGHUP');
    await until(() => output().includes('literal.yaml:1: model_list: must be a list of deployments'));
    await until(() => output().includes('invalid routing file; keeping the previous one'));
    expect(await models()).toContain('gateway/fast');

    const changed = OWN_KEY_ROUTING.replace('model_name: gateway/embed', 'model_name: gateway/other');
    writeFileSync(path, `${changed}litellm_settings: { drop_params: true }\n`);
    child.kill('SIGHUP');
    await until(async () => (await models()).includes('gateway/other'));
    await until(() => output().includes('the model table has no gateway/other'));
    await until(() => output().includes('"settings":["litellm_settings.drop_params"]'));
    await until(() => output().includes('gateway/embed: no deployment serves it'));
    expect((await chat(url, ask('hello'), OWN_KEY)).status).toBe(200);
    expect((await (await slow).text()).endsWith('data: [DONE]\n\n')).toBe(true);
    child.kill('SIGKILL');
  });

  test('says which line of the routing file is wrong', async () => {
    const { code, errors } = await started.wrongLine.exited;
    expect(code).toBe(78);
    expect(errors).toContain('configuration: routing.yaml:3: model_list[0].litellm_params.api_base');
  });
});

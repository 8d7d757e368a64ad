import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { freePort } from '../support/free-port.js';
import { descendantsOf } from '../support/process-tree.js';
import type { Target } from './jobs.js';
import { type Ledger, SECRETS } from './ledger.js';
import { type Cores, family } from './machine.js';
import { answering, type Child, start } from './processes.js';

export interface RunningTarget {
  name: string;
  target: Target;
  /** The processes whose CPU and memory count. */
  pids: number[];
  ledger?: Ledger;
  stop(): Promise<void>;
}

export interface TargetContext {
  upstreamPort: number;
  cores: Cores | undefined;
  /** Removed when the bench ends. */
  folder: string;
}

export const NO_KEY = ['sk-of-the-bench'];

/** It responds with the upstream's response to an empty body. */
export const listening = (port: number, child: Child): Promise<void> =>
  answering(`http://127.0.0.1:${port}/`, child);

const nginxConfig = (folder: string, port: number, upstreamPort: number): string => `
${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log;
events { worker_connections 8192; }
http {
  access_log off;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
  keepalive_requests 100000000;
  upstream model { server 127.0.0.1:${upstreamPort}; keepalive 1024; keepalive_requests 100000000; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://model;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_request_buffering off;
    }
  }
}
`;

/** Undefined if nginx isn't installed. */
export async function startNginx(context: TargetContext): Promise<RunningTarget | undefined> {
  const binary = ['nginx', '/usr/sbin/nginx'].find((path) => !spawnSync(path, ['-v']).error);
  if (binary === undefined) return undefined;
  const folder = join(context.folder, 'nginx');
  mkdirSync(folder);
  const port = await freePort();
  const path = join(folder, 'nginx.conf');
  writeFileSync(path, nginxConfig(folder, port, context.upstreamPort));
  const child = start(binary, ['-p', folder, '-c', path, '-e', join(folder, 'error.log')], {
    cores: context.cores,
  });
  await listening(port, child);
  return {
    name: 'nginx',
    target: { port, keys: NO_KEY, headers: '' },
    pids: family(child.pid),
    stop: () => child.stop(),
  };
}

export interface EdgeOptions {
  name: string;
  ledger: Ledger;
  /** Compiled product. */
  dist: string;
  /** By default, the edge routes by itself, to the same upstream. */
  upstreamUrl?: string;
  env?: NodeJS.ProcessEnv;
  nodeOptions?: string[];
}

/** The program of a build: its bundle, if it has one. */
function programOf(dist: string, name: string): string {
  const file = name.endsWith('.js') ? name : join(name, 'main.js');
  const [bundled, compiled] = [join(dist, 'bundle'), dist].map((folder) => resolve(folder, file));
  return existsSync(bundled!) ? bundled! : compiled!;
}

/** A real edge process with everything on. */
export async function startEdge(context: TargetContext, options: EdgeOptions): Promise<RunningTarget> {
  const port = await freePort();
  const args = [...(options.nodeOptions ?? []), programOf(options.dist, 'gateway')];
  const child = start(process.execPath, args, {
    cores: context.cores,
    env: productEnv(context, options, port),
  });
  await answering(`http://127.0.0.1:${port}/health/ready`, child);
  return {
    name: options.name,
    target: { port, keys: options.ledger.keys.map(({ key }) => key), headers: '' },
    pids: [child.pid],
    ledger: options.ledger,
    stop: () => child.stop(),
  };
}

/** Several edges on one port, with a separate Redis, on all cores. */
export async function startEdges(
  context: TargetContext,
  count: number,
  options: EdgeOptions,
): Promise<RunningTarget> {
  const { cores } = context;
  const port = await freePort();
  // The edges get the environment of this process.
  const args = [...(options.nodeOptions ?? []), programOf(options.dist, 'launcher/edges.js')];
  const redisPort = await freePort();
  const redis = start('redis-server', ['--port', String(redisPort), '--bind', '127.0.0.1', '--save', '']);
  const child = start(process.execPath, args, {
    ...(cores && { cores: { ...cores, target: `${cores.target},${cores.rest}` } }),
    env: {
      ...productEnv(context, options, port),
      EDGE_PROCESSES: String(count),
      REDIS_URL: `redis://127.0.0.1:${redisPort}`,
    },
  });
  await once(child.process, 'message');
  return {
    name: options.name,
    target: { port, keys: options.ledger.keys.map(({ key }) => key), headers: '' },
    pids: [...family(child.pid), redis.pid],
    ledger: options.ledger,
    async stop() {
      await child.stop();
      await redis.stop();
    },
  };
}

function productEnv(context: TargetContext, options: EdgeOptions, port: number): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    NODE_ENV: 'production',
    LOG_LEVEL: 'warn',
    HOST: '127.0.0.1',
    PORT: String(port),
    DATA_DIR: join(context.folder, options.name),
    DATABASE_URL: options.ledger.url,
    PLATFORM_URL: 'http://127.0.0.1:9',
    ...(options.upstreamUrl === undefined
      ? { SIMULATOR_API_BASE: `http://127.0.0.1:${context.upstreamPort}/v1`, ALLOW_SIMULATOR: '1' }
      : { UPSTREAM_URL: options.upstreamUrl }),
    ...SECRETS,
    ...options.env,
  };
}

/** The product's model proxy in front of the upstream, with a virtual key. */
export async function startProxy(
  context: TargetContext,
  options: Omit<EdgeOptions, 'upstreamUrl'>,
): Promise<RunningTarget> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const args = [...(options.nodeOptions ?? []), programOf(options.dist, 'proxy')];
  const child = start(process.execPath, args, {
    cores: context.cores,
    env: {
      ...productEnv(context, options, port),
      PROXY_PORT: String(port),
    },
  });
  await listening(port, child);
  return {
    name: options.name,
    target: { port, keys: [await newVirtualKey(url)], headers: '' },
    pids: [child.pid],
    stop: () => child.stop(),
  };
}

/**
 * The whole path of a call to the same upstream: an edge that routes by itself, or in builds that can't, an edge in front of the
 * bundled model proxy.
 */
export async function startWholePath(
  context: TargetContext,
  options: Omit<EdgeOptions, 'upstreamUrl'>,
): Promise<RunningTarget> {
  if (!existsSync(join(options.dist, 'router'))) return startChain(context, options);
  await sealVirtualKeys(context, options);
  return startEdge(context, options);
}

/** A model proxy creates the virtual key; the database keeps its hash. */
async function sealVirtualKeys(context: TargetContext, options: Omit<EdgeOptions, 'upstreamUrl'>) {
  const proxy = await startProxy(context, { ...options, name: `${options.name} keys` });
  await options.ledger.seal(proxy.target.keys[0]!);
  await proxy.stop();
}

/** All processes of `npm start`, routing by themselves to the same upstream, with the bench's database. */
export async function startProduct(
  context: TargetContext,
  options: Omit<EdgeOptions, 'upstreamUrl'>,
): Promise<RunningTarget> {
  await sealVirtualKeys(context, options);
  const port = await freePort();
  // It chooses the port of the platform itself.
  const { PLATFORM_URL: _edgeOnly, ...env } = productEnv(context, options, port);
  const child = start(process.execPath, [programOf(options.dist, 'start.js')], { env });
  await answering(`http://127.0.0.1:${port}/health/ready`, child);
  return {
    name: options.name,
    target: { port, keys: options.ledger.keys.map(({ key }) => key), headers: '' },
    pids: [child.pid, ...descendantsOf(child.pid)],
    ledger: options.ledger,
    stop: () => child.stop(),
  };
}

async function startChain(
  context: TargetContext,
  options: Omit<EdgeOptions, 'upstreamUrl'>,
): Promise<RunningTarget> {
  const proxy = await startProxy(context, options);
  const { port, keys } = proxy.target;
  await options.ledger.seal(keys[0]!);
  const edge = await startEdge(context, { ...options, upstreamUrl: `http://127.0.0.1:${port}` });
  return {
    ...edge,
    pids: [...edge.pids, ...proxy.pids],
    async stop() {
      await edge.stop();
      await proxy.stop();
    },
  };
}

async function newVirtualKey(proxyUrl: string): Promise<string> {
  const response = await fetch(`${proxyUrl}/key/generate`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${SECRETS.UPSTREAM_MASTER_KEY}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ user_id: 'bench', key_alias: 'bench' }),
  });
  return ((await response.json()) as { key: string }).key;
}

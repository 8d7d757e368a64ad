import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../support/free-port.js';
import { start } from './processes.js';
import { listening, NO_KEY, type RunningTarget, type TargetContext } from './targets.js';

/** A version of Node that peers run on. */
export interface Runtime {
  /** Suffix of the targets' names. */
  suffix: string;
  node: string;
  /** Program of the peer "bare", next to an undici that this Node can run. */
  bare: string;
  /** Description of the versions. */
  versions: string;
}

const BARE = fileURLToPath(new URL('./bare.js', import.meta.url));

/** The Node that the edge ships with. */
export const OWN_NODE: Runtime = {
  suffix: '',
  node: process.execPath,
  bare: BARE,
  versions: `Node ${process.version}`,
};

/** The goals were set with peers on Node 20. It can't load the product's undici 8, so that it has the newest 7. */
const NODE_20 = { version: '20.20.2', undici: '7.30.2' };

/**
 * Fetches Node 20 as the product's own Node comes, from npm, whatever Node is installed here: runs stay comparable.
 * A line that says why when it can't be had.
 */
export function fetchNode20({ folder }: TargetContext): Runtime | string {
  const binary = `node-${process.platform}-${process.arch}`;
  try {
    const home = install(join(folder, 'node-20'), {
      dependencies: { [binary]: NODE_20.version, undici: NODE_20.undici },
    });
    const node = join(home, 'node_modules', binary, 'bin', 'node');
    const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
    // The same file as on our own Node; here it resolves another undici.
    const bare = join(home, 'bare.mjs');
    copyFileSync(BARE, bare);
    return {
      suffix: ', Node 20',
      node,
      bare,
      versions: `Node ${version}, bare with undici ${NODE_20.undici}`,
    };
  } catch (error) {
    return `left out (${firstLine(error)})`;
  }
}

export const firstLine = (error: unknown): string => (error as Error).message.split('\n', 1)[0]!;

const INSTALL_MS = 180_000;

/** @throws Error if npm can't install the manifest's packages. */
function install(folder: string, manifest: object): string {
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, ...manifest }));
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'], {
    cwd: folder,
    timeout: INSTALL_MS,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return folder;
}

export async function startBare(context: TargetContext, runtime: Runtime): Promise<RunningTarget> {
  const port = await freePort();
  const args = [runtime.bare, String(port), `http://127.0.0.1:${context.upstreamPort}`];
  const child = start(runtime.node, args, { cores: context.cores });
  await listening(port, child);
  return {
    name: `bare${runtime.suffix}`,
    target: { port, keys: NO_KEY, headers: '' },
    pids: [child.pid],
    stop: () => child.stop(),
  };
}

/** With the newest @hono/node-server every stream of this peer answers 500; 1.12.2 streams. */
const PORTKEY = { version: '1.15.2', server: '1.12.2' };

/** Fetches the peer from npm, once for each Node. @throws Error if it can't be installed. */
export function fetchPortkey({ folder }: TargetContext): string {
  return install(join(folder, 'portkey'), {
    dependencies: { '@portkey-ai/gateway': PORTKEY.version },
    overrides: { '@hono/node-server': PORTKEY.server },
  });
}

/** Starts the peer that `fetchPortkey` installed in `home`. */
export async function startPortkey(
  context: TargetContext,
  home: string,
  runtime: Runtime,
): Promise<RunningTarget> {
  const port = await freePort();
  const entry = join(home, 'node_modules/@portkey-ai/gateway/build/start-server.js');
  const child = start(runtime.node, [entry, `--port=${port}`, '--headless'], {
    cores: context.cores,
    cwd: home,
  });
  await listening(port, child);
  const upstream = `http://127.0.0.1:${context.upstreamPort}/v1`;
  return {
    name: `Portkey${runtime.suffix}`,
    target: {
      port,
      keys: NO_KEY,
      headers: `x-portkey-provider: openai\r\nx-portkey-custom-host: ${upstream}\r\n`,
    },
    pids: [child.pid],
    stop: () => child.stop(),
  };
}

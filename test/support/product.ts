import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isRunning } from '../../src/lib/process-stat.js';
import { call } from './api.js';
import { putCluster } from './cluster.js';
import { inDist } from './dist.js';
import { freePort } from './free-port.js';
import { INHERITED_ENV } from './inherited-env.js';
import { descendantsOf } from './process-tree.js';
import { until } from './until.js';

const ADMIN = { email: 'admin@example.com', password: 'an admin of the tests' };

/** The whole product as `npm start` runs it, in a separate data folder. */
export interface Product {
  readonly url: string;
  readonly dataDir: string;
  start(): Promise<void>;
  /** Sends a signal to the launcher. */
  signal(name: NodeJS.Signals): void;
  /** The launcher's output since its last start. */
  output(): string;
  /** Pids of the processes that run a program, such as `gateway/main.js`. */
  pids(program: string): number[];
  /** Sends SIGTERM to the launcher. Returns its exit code. */
  terminate(): Promise<number | null>;
  /** Sends SIGKILL to everything at once: launcher, children, database. */
  killAll(): Promise<void>;
  /** Address of the embedded database while it runs. */
  databaseUrl(): string;
  /** An account with a key, on plan `team` unless another is named. */
  customer(plan?: string): Promise<{ accountId: string; token: string; key: string }>;
  remove(): Promise<void>;
}

/** @param checkout Another built checkout; its first start creates its database. */
export async function createProduct(env: Record<string, string> = {}, checkout?: string): Promise<Product> {
  const program = checkout === undefined ? inDist('start.js') : join(checkout, 'dist/bundle/start.js');
  const folder = mkdtempSync(join(tmpdir(), 'gateway-product-'));
  // As root, the database runs as another user.
  chmodSync(folder, 0o755);
  const dataDir = join(folder, 'data');
  if (checkout === undefined) await putCluster(dataDir);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  let launcher: ChildProcess | undefined;
  let output = '';
  let customers = 0;

  const gone = () => launcher === undefined || launcher.exitCode !== null || launcher.signalCode !== null;
  const databasePid = () =>
    Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);

  const product: Product = {
    url,
    dataDir,
    async start() {
      output = '';
      launcher = spawn(process.execPath, [program], {
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
        env: {
          ...INHERITED_ENV,
          DATA_DIR: dataDir,
          PORT: String(port),
          PASSWORD_HASH_PROFILE: 'test',
          ADMIN_EMAIL: ADMIN.email,
          ADMIN_PASSWORD: ADMIN.password,
          ...env,
        },
      });
      for (const stream of [launcher.stdout!, launcher.stderr!])
        stream.on('data', (chunk) => (output += chunk));
      const started = () => output.includes('Ready at') || gone();
      // Shorter than the tests' time limits, which wouldn't show the product's output.
      await until(started, { timeoutMs: 45_000 }).catch(() => undefined);
      if (gone() || !started()) throw new Error(`the product did not start:\n${output}`);
    },
    output: () => output,
    signal: (name) => void launcher!.kill(name),
    pids: (program) => descendantsOf(launcher!.pid!).filter((pid) => commandOf(pid).includes(program)),
    async terminate() {
      launcher!.kill('SIGTERM');
      await until(gone, { timeoutMs: 45_000, what: 'the product to stop' });
      return launcher!.exitCode;
    },
    async killAll() {
      const pids = [launcher!.pid!, databasePid()].flatMap((pid) => [pid, ...descendantsOf(pid)]);
      for (const pid of pids) kill(pid);
      await until(() => pids.every((pid) => !isRunning(pid)), { what: 'everything to be dead' });
    },
    databaseUrl() {
      const lines = readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n');
      const password = readFileSync(join(dataDir, 'secrets', 'DATABASE_PASSWORD'), 'utf8').trim();
      return `postgresql://gateway:${password}@127.0.0.1:${lines[3]}/gateway`;
    },
    async customer(plan = 'team') {
      const email = `customer-${++customers}@example.com`;
      const signup = await call<{ access_token: string; user: { id: string } }>(
        url,
        'POST',
        '/api/auth/signup',
        {
          body: { email, password: 'a customer of the tests', name: 'Customer' },
        },
      );
      const { access_token: token, user } = signup.body;
      const admin = await call<{ access_token: string }>(url, 'POST', '/api/auth/login', { body: ADMIN });
      await call(url, 'PATCH', `/api/admin/users/${user.id}`, {
        token: admin.body.access_token,
        body: { plan },
      });
      const key = await call<{ key: string }>(url, 'POST', '/api/keys', { token, body: { name: 'first' } });
      return { accountId: user.id, token, key: key.body.key };
    },
    async remove() {
      if (!gone()) await product.terminate();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return product;
}

/** Empty if the process has just ended. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself at the same moment.
  }
}

import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { answers } from '../../src/db/answers.js';
import { serverIdentity } from '../../src/db/reachable.js';
import { describeWith } from './describe-with.js';
import { freePort } from './free-port.js';
import { until } from './until.js';

/** A real PgBouncer in transaction mode, with default settings otherwise. */
export interface TestPgBouncer {
  /** Address of the database through this PgBouncer. */
  readonly url: string;
  pid(): number;
  start(): Promise<void>;
  /** Cuts off every client and every session at the server. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

const BINARY = (process.env.PATH ?? '')
  .split(':')
  .concat('/usr/sbin')
  .map((folder) => join(folder, 'pgbouncer'))
  .find((path) => existsSync(path));

/** `describe` if PgBouncer is installed. */
export const describeWithPgBouncer = (name: string, body: () => void): void =>
  describeWith('pgbouncer', BINARY, name, body);

/** Starts one for the server at `url`, reached at `port`. It has few sessions, so that clients change sessions often. */
export async function startPgBouncer(url: string, port: number, sessions = 8): Promise<TestPgBouncer> {
  const { username, password, pathname } = new URL(url);
  const database = pathname.slice(1);
  const own = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'gateway-pgbouncer-'));
  chmodSync(folder, 0o755);
  const config = join(folder, 'pgbouncer.ini');
  const user = `user=${decodeURIComponent(username)} password=${decodeURIComponent(password)}`;
  writeFileSync(
    config,
    `[databases]
${database} = host=127.0.0.1 port=${port} ${user}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${own}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${sessions}
max_client_conn = 1000
server_login_retry = 1
`,
  );
  const through = new URL(url);
  through.port = String(own);
  let child: ChildProcess | undefined;
  const isRunning = (): boolean => child?.exitCode === null && child.signalCode === null;
  const bouncer: TestPgBouncer = {
    url: through.href,
    pid: () => child!.pid!,
    async start() {
      if (isRunning()) throw new Error('this PgBouncer is running');
      // It refuses to run as root.
      child = spawn(BINARY!, ['--quiet', config], { stdio: 'ignore', ...serverIdentity() });
      const started = child;
      await until(
        async () => {
          if (started.exitCode !== null) throw new Error(`PgBouncer ended with code ${started.exitCode}`);
          return answers(through.href, true);
        },
        { what: 'PgBouncer to answer' },
      );
    },
    async kill() {
      const dying = child!;
      dying.kill('SIGKILL');
      await until(() => dying.signalCode !== null, { what: 'PgBouncer to be dead' });
    },
    async close() {
      if (isRunning()) await bouncer.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await bouncer.start();
  return bouncer;
}

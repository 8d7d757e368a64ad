import { dirname, join } from 'node:path';
import pg from 'pg';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../../src/db/embedded.js';
import { leftBehind } from '../../../src/db/server-process.js';
import { putCluster } from '../../support/cluster.js';
import { childrenOf } from '../../support/process-tree.js';
import { until } from '../../support/until.js';

/** The rig's PostgreSQL, durable as in production, always on the same port. */
export interface RigPostgres {
  readonly port: number;
  /** Of the cluster's files. */
  readonly directory: string;
  readonly url: string;
  /** The driver's own connections, past every link. */
  readonly pool: pg.Pool;
  start(): Promise<void>;
  /** Fast shutdown. */
  stop(): Promise<void>;
  kill(): Promise<void>;
  /** Sends SIGSTOP to the server and all of its processes. */
  freeze(): void;
  resume(): void;
  close(): Promise<void>;
}

const DATABASE = 'gateway';

/** Starts a server below `folder` with the product's schema and catalog in it. */
export async function startRigPostgres(folder: string): Promise<RigPostgres> {
  const directory = join(folder, 'database', 'postgres');
  await putCluster(dirname(directory));
  let server: EmbeddedPostgres = await startEmbeddedPostgres({ directory });
  const url = server.url(DATABASE);
  const pool = new pg.Pool({ connectionString: url, max: 4, application_name: 'rig' });
  pool.on('error', () => undefined);
  let frozen: number[] = [];
  const signal = (pids: number[], name: NodeJS.Signals): void => {
    for (const pid of pids) process.kill(pid, name);
  };
  const rig: RigPostgres = {
    port: server.port,
    directory,
    url,
    pool,
    async start() {
      server = await startEmbeddedPostgres({ directory, port: server.port });
    },
    stop: () => server.stop(),
    async kill() {
      const { pid } = leftBehind(directory)!;
      process.kill(pid, 'SIGKILL');
      await until(() => !server.running());
    },
    freeze() {
      const { pid } = leftBehind(directory)!;
      signal([pid], 'SIGSTOP');
      frozen = [pid, ...childrenOf(pid)];
      signal(frozen, 'SIGSTOP');
    },
    resume() {
      signal(frozen, 'SIGCONT');
      frozen = [];
    },
    async close() {
      if (frozen.length > 0) rig.resume();
      await pool.end();
      await server.stop();
    },
  };
  return rig;
}

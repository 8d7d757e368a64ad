import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { withDatabase } from '../../src/cli/database.js';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/db/embedded.js';
import { reachableCluster } from '../../src/db/reachable.js';
import { leftBehind } from '../../src/db/server-process.js';
import { dataDirLock, takeLock } from '../../src/lib/lock-file.js';
import { isRunning } from '../../src/lib/process-stat.js';
import { putCluster } from '../support/cluster.js';
import { runCommand } from '../support/command.js';
import { fakeChildren, temporaryFolder, testLaunch } from './support.js';

describe('a command on the database of npm start', () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let dataDir: string;
  beforeEach(async () => {
    folder = temporaryFolder();
    dataDir = join(folder.path, 'data');
    await putCluster(dataDir);
  });
  afterEach(() => folder.remove());

  const directory = () => join(dataDir, 'postgres');
  const audit = () => runCommand('audit', [], { DATA_DIR: dataDir });

  describe('while the product runs', () => {
    let server: EmbeddedPostgres;
    let pid: number;
    let release: () => void;
    beforeEach(async () => {
      server = await startEmbeddedPostgres({ directory: directory() });
      pid = leftBehind(directory())!.pid;
      release = takeLock(dataDirLock(dataDir), 'http://localhost:8080');
    });
    afterEach(async () => {
      process.kill(pid, 'SIGCONT');
      release();
      await server.stop();
    });

    test("uses the product's database and leaves it running", async () => {
      expect(await audit()).toMatchObject({ code: 0, output: expect.stringContaining('0 violated') });
      expect(isRunning(pid)).toBe(true);
    });

    test('gives up on a database that does not respond, and leaves it alone', async () => {
      process.kill(pid, 'SIGSTOP');
      const { code, output } = await audit();
      expect([code, output]).toEqual([
        2,
        `audit: the database of the product that runs from ${dataDir} (process ${process.pid}, http://localhost:8080) does not respond\n`,
      ]);
      process.kill(pid, 'SIGCONT');
      // A pending signal would end it now.
      expect(await audit()).toMatchObject({ code: 0 });
      expect(isRunning(pid)).toBe(true);
    });
  });

  test('starts the database while the product does not run, and nobody adopts it before the command ends', async () => {
    const config = { databaseDirectUrl: null, dataDir };
    const pid = await withDatabase(config, 'audit', async (orm) => {
      const inUse = `npm run audit is using the database in ${dataDir} (process ${process.pid})`;
      await expect(withDatabase(config, 'admin', async () => undefined)).rejects.toThrow(inUse);
      const { launcher, output } = testLaunch(dataDir, fakeChildren(folder.path), { DATABASE_URL: '' });
      expect(await launcher.ended).toBe(1);
      expect(output()).toContain(inUse);
      expect(await orm.em.execute('select 1 as one')).toEqual([{ one: 1 }]);
      return leftBehind(directory())!.pid;
    });
    expect([isRunning(pid), existsSync(dataDirLock(dataDir))]).toEqual([false, false]);
  });

  test('sets no database aside if DATA_DIR is gone, which only a start of the product may do', async () => {
    const home = join(folder.path, 'home');
    mkdirSync(home, { mode: 0o700 });
    const gone = {
      databaseDirectUrl: null,
      dataDir: join(home, 'data'),
      systemRoot: join(folder.path, 'system'),
    };
    // As root outside of DATA_DIR, where the database's user can reach it.
    const cluster = reachableCluster(join(gone.dataDir, 'postgres'), gone.systemRoot);
    const isOutside = !cluster.startsWith(home);
    if (isOutside) {
      mkdirSync(cluster);
      writeFileSync(join(cluster, 'PG_VERSION'), '18');
    }
    await expect(withDatabase(gone, 'audit', async () => undefined)).rejects.toThrow(
      `no database in ${gone.dataDir}`,
    );
    expect(existsSync(gone.dataDir)).toBe(false);
    if (isOutside) expect(readdirSync(dirname(cluster))).toEqual(['postgres']);
  });
});

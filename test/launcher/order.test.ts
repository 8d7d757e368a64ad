import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { newId } from '../../src/lib/ids.js';
import { isRunning } from '../../src/lib/process-stat.js';
import { leaveSpool, recordOf } from '../metering/support.js';
import { freePort } from '../support/free-port.js';
import { until } from '../support/until.js';
import { fakeChildren, readJournal, temporaryFolder, testLaunch } from './support.js';

describe('the launcher', () => {
  let folder: ReturnType<typeof temporaryFolder>;
  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(() => folder.remove());

  const events = (event: string) =>
    readJournal(folder.path)
      .filter((line) => line.event === event)
      .map((line) => line.name);

  test('opens the public port last, and stops edge, then jobs and platform', async () => {
    const { launcher, output } = testLaunch(join(folder.path, 'new', 'data'), fakeChildren(folder.path));
    await launcher.ready;
    await until(() => events('started').length === 3);
    // Nothing waits for jobs, which start in parallel and, on a busy machine, later.
    expect(
      events('started')
        .filter((name) => name !== 'jobs')
        .at(-1),
    ).toBe('edge');
    launcher.stop('SIGTERM');
    expect(await launcher.ended).toBe(0);
    const stopped = events('stopped');
    expect(stopped[0]).toBe('edge');
    expect(stopped.slice(1, 3).sort()).toEqual(['jobs', 'platform']);
    expect(output()).toContain('/docs/api');
    expect(output()).toContain('SIGTERM: finishing requests in progress');
    expect(output()).toContain('all requests finished, all usage events written');
  });

  test('keeps the public port closed until the platform is ready', async () => {
    const gate = join(folder.path, 'gate');
    const wait = `while (!existsSync(${JSON.stringify(gate)})) await new Promise((done) => setTimeout(done, 10));`;
    const { launcher } = testLaunch(folder.path, fakeChildren(folder.path, { platform: wait }));
    await until(() => events('started').length === 2);
    expect(events('started')).not.toContain('edge');
    writeFileSync(gate, '');
    await launcher.ready;
    expect(events('started')).toContain('edge');
    launcher.stop('SIGINT');
    expect(await launcher.ended).toBe(0);
  });

  test('a child whose configuration is wrong stops everything with its code', async () => {
    const { launcher, output } = testLaunch(
      folder.path,
      fakeChildren(folder.path, { platform: 'process.exit(78);' }),
    );
    expect(await launcher.ended).toBe(78);
    expect(output()).toContain("platform can't start with this configuration");
    expect(readJournal(folder.path).every(({ pid }) => !isRunning(pid))).toBe(true);
    expect(events('started')).not.toContain('edge');
  });

  test('a second signal keeps the stop orderly and reports what it waits for', async () => {
    const gate = join(folder.path, 'gate');
    const slow = `process.removeAllListeners('SIGTERM'); process.on('SIGTERM', () => {
      journal('edge draining');
      setInterval(() => existsSync(${JSON.stringify(gate)}) && end('stopped'), 10);
    });`;
    const { launcher, output } = testLaunch(folder.path, fakeChildren(folder.path, { edge: slow }));
    await launcher.ready;
    launcher.stop('SIGINT');
    await until(() => events('draining').length === 1);
    launcher.stop('SIGINT');
    expect(output()).toContain('still waiting for edge');
    expect(events('stopped')).toEqual([]);
    writeFileSync(gate, '');
    expect(await launcher.ended).toBe(0);
    expect(events('stopped')[0]).toBe('edge');
  });

  test('edges that are still starting get no restart signal, which could end them', async () => {
    const gate = join(folder.path, 'gate');
    const wait = `while (!existsSync(${JSON.stringify(gate)})) await new Promise((done) => setTimeout(done, 10));
      process.on('SIGUSR2', () => journal('edge restarted'));`;
    const { launcher, output } = testLaunch(folder.path, fakeChildren(folder.path, { edge: wait }), {
      EDGE_PROCESSES: '2',
      REDIS_URL: 'redis://127.0.0.1:1',
    });
    await until(() => events('started').includes('edge'));
    launcher.restartEdges();
    expect(output()).toContain('the edges are being started already');
    writeFileSync(gate, '');
    await launcher.ready;
    launcher.restartEdges();
    await until(() => events('restarted').length === 1);
    expect(events('started').filter((name) => name === 'edge')).toHaveLength(1);
    launcher.stop('SIGTERM');
    expect(await launcher.ended).toBe(0);
  });

  test('a stop during the start ends everything that was started', async () => {
    const never = 'await new Promise(() => undefined);';
    const { launcher } = testLaunch(folder.path, fakeChildren(folder.path, { platform: never }));
    await until(() => events('started').length === 2);
    launcher.stop('SIGTERM');
    expect(await launcher.ended).toBe(0);
    expect(readJournal(folder.path).every(({ pid }) => !isRunning(pid))).toBe(true);
    expect(events('started')).not.toContain('edge');
  });

  test('the end reports how many events the edge left in the spool', async () => {
    const spool = join(folder.path, 'spool');
    const payer = { accountId: newId(), keyId: newId() };
    const left = [recordOf(payer), recordOf(payer), recordOf(payer)];
    leaveSpool(spool, [left, [left[0]!]]);
    const { launcher, output } = testLaunch(folder.path, fakeChildren(folder.path));
    await launcher.ready;
    launcher.stop('SIGTERM');
    expect(await launcher.ended).toBe(0);
    expect(output()).toContain(
      `up to 3 usage events are waiting in ${spool}; the next start will record them`,
    );
    expect(output()).not.toContain('all usage events written');
  });

  test('a stop while its database can not be started does not wait for all attempts', async () => {
    const cluster = join(folder.path, 'postgres');
    mkdirSync(cluster);
    writeFileSync(join(cluster, 'PG_VERSION'), '18\n');
    const { launcher, output } = testLaunch(folder.path, fakeChildren(folder.path), { DATABASE_URL: '' });
    const retries = () => output().split('retrying').length - 1;
    await until(() => retries() > 0);
    const before = retries();
    launcher.stop('SIGTERM');
    expect(await launcher.ended).toBe(0);
    expect(retries()).toBe(before);
    expect(events('started')).toEqual([]);
    expect(existsSync(join(folder.path, 'launcher.lock'))).toBe(false);
  });

  test('a second launch on the same DATA_DIR names the running one and leaves it alone', async () => {
    const first = testLaunch(folder.path, fakeChildren(folder.path));
    await first.launcher.ready;
    const second = testLaunch(folder.path, fakeChildren(folder.path));
    expect(await second.launcher.ended).toBe(1);
    expect(second.output()).toContain(`already running from ${folder.path}: process ${process.pid}`);
    expect(existsSync(join(folder.path, 'launcher.lock'))).toBe(true);
    expect(events('stopped')).toEqual([]);
    first.launcher.stop('SIGTERM');
    await first.launcher.ended;
    expect(existsSync(join(folder.path, 'launcher.lock'))).toBe(false);
  });

  test('the lock of a killed launcher is removed, even if its pid was reused', async () => {
    writeFileSync(
      join(folder.path, 'launcher.lock'),
      JSON.stringify({ pid: process.pid, start: '1', note: 'long gone' }),
    );
    const { launcher } = testLaunch(folder.path, fakeChildren(folder.path));
    await launcher.ready;
    launcher.stop('SIGTERM');
    expect(await launcher.ended).toBe(0);
  });

  test.each(['0', '48123'])(
    "an address that is not this machine's is reported as a fault of HOST (PORT=%s)",
    async (PORT) => {
      // 192.0.2.0/24 is reserved for documentation.
      const { launcher, output } = testLaunch(folder.path, fakeChildren(folder.path), {
        HOST: '192.0.2.1',
        PORT,
      });
      expect(await launcher.ended).toBe(78);
      expect(output()).toContain('HOST: 192.0.2.1 is not an address of this machine (EADDRNOTAVAIL)');
      expect(output()).not.toContain('PORT:');
    },
  );

  describe('when the configured port is taken', () => {
    const occupy = async (): Promise<{ port: number; close(): Promise<void> }> => {
      const server = createServer();
      await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
      return {
        port: (server.address() as { port: number }).port,
        close: () => new Promise((done) => server.close(() => done())),
      };
    };

    test('waits for a listener that is about to close', async () => {
      const other = await occupy();
      const { launcher } = testLaunch(folder.path, fakeChildren(folder.path), { PORT: String(other.port) });
      await until(() => existsSync(join(folder.path, 'launcher.lock')));
      expect(events('started')).toEqual([]);
      await other.close();
      const { url } = await launcher.ready;
      expect(url).toBe(`http://localhost:${other.port}`);
      launcher.stop('SIGTERM');
      expect(await launcher.ended).toBe(0);
    });

    test('stops with one line that names the port', async () => {
      const other = await occupy();
      const launchWith = async (name: string): Promise<void> => {
        const { launcher, output } = testLaunch(
          join(folder.path, name),
          fakeChildren(folder.path),
          { [name]: String(other.port) },
          { portPatienceMs: 250 },
        );
        expect(await launcher.ended).toBe(78);
        expect(output().trim().split('\n')).toEqual([
          expect.stringContaining(` ${name}: ${other.port} on 127.0.0.1 is in use by another program`),
        ]);
      };
      await Promise.all(['PORT', 'PLATFORM_PORT', 'METRICS_PORT'].map(launchWith));
      expect(events('started')).toEqual([]);
      await other.close();
    });

    test('stops with the same line if the port is taken only when the child wants it', async () => {
      const port = String(await freePort());
      const { launcher, output } = testLaunch(
        folder.path,
        fakeChildren(folder.path, { platform: 'process.exit(75);' }),
        { PLATFORM_PORT: port },
      );
      expect(await launcher.ended).toBe(78);
      expect(output()).toContain(`PLATFORM_PORT: ${port} on 127.0.0.1 is in use by another program`);
      expect(events('started').filter((name) => name === 'platform')).toHaveLength(1);
      expect(events('started')).not.toContain('edge');
    });
  });
});

import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { until } from '../../support/until.js';
import { type EventRow, ended, fire, readEvent, subscribe } from './fixtures.js';
import { type Receiver, startReceiver } from './receiver.js';

const CHILD = fileURLToPath(new URL('./worker-child.js', import.meta.url));
/** A busy machine may take seconds from a claim to its record; the lease of a worker that runs must not end meanwhile. */
const LEASE_MS = 5_000;
/** From the end of a lease, or the start of who comes after it, to the next request; on a busy machine. */
const REDELIVERY_MS = 6_000;

interface Worker {
  child: ChildProcess;
  output(): string;
  running(): boolean;
  /** `performance.now()` when it reported that it works; undefined until then. */
  startedAt(): number | undefined;
}

/** A database, a receiver, and the processes that deliver from the one to the other. */
interface Rig {
  db: TestDatabase;
  receiver: Receiver;
  workers: Worker[];
  /** How often requests of a path are still met by the end of the worker that made them. */
  kills: Map<string, number>;
  /** The same for a suspended process; answered afterwards. */
  stops: Set<string>;
  stopped(): Worker | undefined;
  startWorker(): Worker;
  oneRuns(): Worker | undefined;
  fireAt(path: string): Promise<string>;
  close(): Promise<void>;
}

async function createRig(): Promise<Rig> {
  const db = await createTestDatabase();
  const kills = new Map<string, number>();
  const stops = new Set<string>();
  const workers: Worker[] = [];
  let stopped: Worker | undefined;
  const oneRuns = () => workers.find((worker) => worker.running() && worker !== stopped);
  const receiver = await startReceiver({
    onRequest({ path }, response) {
      const left = kills.get(path) ?? 0;
      if (left > 0) {
        // Between request and commit: the answer that would be recorded never comes.
        kills.set(path, left - 1);
        oneRuns()!.child.kill('SIGKILL');
        return false;
      }
      if (stops.delete(path)) {
        stopped = oneRuns()!;
        stopped.child.kill('SIGSTOP');
        response.writeHead(400).end();
        return false;
      }
      return undefined;
    },
  });
  const to = await subscribe(db.pool, receiver.url);
  return {
    ...{ db, receiver, workers, kills, stops, oneRuns },
    stopped: () => stopped,
    fireAt: (path) => fire(db.pool, { ...to, destination: receiver.url + path }),
    startWorker() {
      const child = spawn(process.execPath, ['--no-warnings', CHILD, db.url, String(LEASE_MS)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let output = '';
      let startedAt: number | undefined;
      child.stdout!.setEncoding('utf8').on('data', (text: string) => {
        startedAt ??= performance.now();
        output += text;
      });
      const running = () => child.exitCode === null && child.signalCode === null;
      const worker: Worker = { child, output: () => output, running, startedAt: () => startedAt };
      workers.push(worker);
      return worker;
    },
    async close() {
      for (const { child } of workers) child.kill('SIGKILL');
      await until(() => workers.every((worker) => !worker.running()));
      await receiver.close();
      await db.close();
    },
  };
}

describe('a process that delivers', () => {
  let rigs: Rig[];
  beforeAll(async () => {
    // One each for what waits for leases beside the others: a kill ends all that a process has under way.
    rigs = await Promise.all([createRig(), createRig(), createRig()]);
  });
  afterAll(() => Promise.all(rigs.map((rig) => rig.close())));

  test('killed between request and record: redelivered with the same id, at most three requests, nothing left over', async () => {
    const [first, second] = rigs as [Rig, Rig, Rig];
    first.kills.set('/ok/twice', 2);
    second.kills.set('/ok/always', 99);
    const deliveries = [
      { rig: first, paths: ['/ok/twice', '/ok/never'] },
      { rig: second, paths: ['/ok/always'] },
    ];
    const events: Record<string, EventRow & { id: string }> = {};
    await Promise.all(
      deliveries.map(async ({ rig, paths }) => {
        // As a supervisor does: who dies is started again.
        const supervisor = setInterval(() => rig.oneRuns() ?? rig.startWorker(), 20);
        try {
          for (const path of paths) {
            const id = await rig.fireAt(path);
            events[path] = { ...(await ended(rig.db.pool, id, 40_000)), id };
          }
        } finally {
          clearInterval(supervisor);
        }
      }),
    );
    const died = [first, second].flatMap(({ workers }) => workers.filter((worker) => !worker.running()));
    expect(died).toHaveLength(5);
    expect(events['/ok/twice']).toMatchObject({ delivery_status: 'sent', attempts: 3, response_code: 204 });
    expect(events['/ok/always']).toMatchObject({
      delivery_status: 'failed',
      attempts: 3,
      response_code: null,
    });
    expect(events['/ok/always']!.error_message).toContain('may have arrived');
    expect(events['/ok/never']).toMatchObject({ delivery_status: 'sent' });
    for (const { rig, paths } of deliveries) {
      for (const path of paths) {
        const requests = rig.receiver.to(path);
        expect(requests.length).toBeLessThanOrEqual(3);
        expect(new Set(requests.map(({ headers }) => headers['webhook-id']))).toEqual(
          new Set([events[path]!.id]),
        );
        expect(new Set(requests.map(({ body }) => body.toString())).size).toBe(1);
        const starts = rig.workers.map((worker) => worker.startedAt() ?? Number.POSITIVE_INFINITY);
        for (const [nth, { at }] of requests.slice(1).entries()) {
          const possibleAt = Math.max(requests[nth]!.at + LEASE_MS, ...starts.filter((start) => start < at));
          expect(at - possibleAt).toBeLessThan(REDELIVERY_MS);
        }
      }
    }
    expect(first.receiver.to('/ok/twice')).toHaveLength(3);
    expect(second.receiver.to('/ok/always')).toHaveLength(3);
  }, 90_000);

  test('suspended beyond its lease writes nothing and begins nothing when it continues', async () => {
    const { db, receiver, stops, stopped, startWorker, fireAt } = rigs[2]!;
    startWorker();
    stops.add('/ok/stopped');
    const id = await fireAt('/ok/stopped');
    const frozen = await until(stopped);
    startWorker();
    // The second worker takes over the alert. The first one will find a 400 in its socket when it goes on.
    const before = await ended(db.pool, id, 40_000);
    expect(before).toMatchObject({ delivery_status: 'sent', response_code: 204 });
    const requests = receiver.to('/ok/stopped').length;
    expect(requests).toBeGreaterThanOrEqual(2);
    // On a busy machine a lease may end between claim and request, so an attempt may have sent none.
    expect(before.attempts).toBeGreaterThanOrEqual(requests);
    expect(before.attempts).toBeLessThanOrEqual(3);
    frozen.child.kill('SIGCONT');
    await until(() => frozen.output().includes('another process has taken over this alert'), {
      what: 'the word of the one that stood still to be refused',
    });
    expect(await readEvent(db.pool, id)).toEqual(before);
    expect(receiver.to('/ok/stopped')).toHaveLength(requests);
  }, 90_000);
});

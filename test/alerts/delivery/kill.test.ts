import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { until } from '../../support/until.js';
import { ended, fire, readEvent, type Subscribed, subscribe } from './fixtures.js';
import { type Receiver, startReceiver } from './receiver.js';

const CHILD = fileURLToPath(new URL('./worker-child.js', import.meta.url));
const LEASE_MS = 1_000;
/** A lease and a look, on a busy machine. */
const REDELIVERY_MS = LEASE_MS + 3_000;

interface Worker {
  child: ChildProcess;
  output(): string;
  running(): boolean;
}

describe('a process that delivers', () => {
  let db: TestDatabase;
  let receiver: Receiver;
  let to: Subscribed;
  /** How often requests of a path are still met by the end of the worker that made them. */
  const kills = new Map<string, number>();
  /** Likewise by its standing still; answered afterwards. */
  const stops = new Set<string>();
  const workers: Worker[] = [];
  let stopped: Worker | undefined;

  const startChild = (): Worker => {
    const child = spawn(process.execPath, ['--no-warnings', CHILD, db.url, String(LEASE_MS)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    const running = () => child.exitCode === null && child.signalCode === null;
    const worker: Worker = { child, output: () => output, running };
    workers.push(worker);
    return worker;
  };
  const oneRuns = () => workers.find((worker) => worker.running() && worker !== stopped);

  beforeAll(async () => {
    db = await createTestDatabase();
    receiver = await startReceiver({
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
    to = await subscribe(db.pool, receiver.url);
  });
  afterAll(async () => {
    for (const { child } of workers) child.kill('SIGKILL');
    await until(() => workers.every((worker) => !worker.running()));
    await receiver.close();
    await db.close();
  });
  const at = (path: string): Subscribed => ({ ...to, destination: receiver.url + path });

  test('killed between request and record: redelivered with the same id, three requests at most, nothing stays', async () => {
    kills.set('/ok/twice', 2).set('/ok/always', 99);
    const paths = ['/ok/twice', '/ok/always', '/ok/never'];
    const ids: string[] = [];
    // As a supervisor does: who dies is started again.
    const supervisor = setInterval(() => oneRuns() ?? startChild(), 20);
    try {
      // One after the other: a kill ends all that are under way.
      for (const path of paths) {
        const id = await fire(db.pool, at(path));
        ids.push(id);
        await ended(db.pool, id, 25_000);
      }
    } finally {
      clearInterval(supervisor);
    }
    const [twice, always, never] = await Promise.all(ids.map((id) => readEvent(db.pool, id)));
    expect(workers.filter((worker) => !worker.running())).toHaveLength(5);
    expect(twice).toMatchObject({ delivery_status: 'sent', attempts: 3, response_code: 204 });
    expect(always).toMatchObject({ delivery_status: 'failed', attempts: 3, response_code: null });
    expect(always!.error_message).toContain('may have arrived');
    expect(never).toMatchObject({ delivery_status: 'sent' });
    for (const [index, path] of paths.entries()) {
      const requests = receiver.to(path);
      expect(requests.length).toBeLessThanOrEqual(3);
      expect(new Set(requests.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([ids[index]]));
      expect(new Set(requests.map(({ body }) => body.toString())).size).toBe(1);
      for (const [nth, { at }] of requests.slice(1).entries()) {
        expect(at - requests[nth]!.at).toBeLessThan(REDELIVERY_MS);
      }
    }
    expect(receiver.to('/ok/twice')).toHaveLength(3);
    expect(receiver.to('/ok/always')).toHaveLength(3);
  }, 60_000);

  test('that stands still past its lease writes nothing, and begins nothing, when it goes on', async () => {
    oneRuns() ?? startChild();
    stops.add('/ok/stopped');
    const id = await fire(db.pool, at('/ok/stopped'));
    const frozen = await until(() => stopped);
    startChild();
    // Another has it now; the answer that the first one has in its socket is 400.
    expect(await ended(db.pool, id)).toMatchObject({
      delivery_status: 'sent',
      attempts: 2,
      response_code: 204,
    });
    const before = await readEvent(db.pool, id);
    frozen.child.kill('SIGCONT');
    await until(() => frozen.output().includes('an alert was taken by another process meanwhile'), {
      what: 'the word of the one that stood still to be refused',
    });
    expect(await readEvent(db.pool, id)).toEqual(before);
    expect(receiver.to('/ok/stopped')).toHaveLength(2);
  });
});

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { READ_ANSWER } from '../../src/inference/relay/read-answer.js';
import { READ_REQUEST } from '../../src/inference/request/read-request.js';
import { WorkerThread } from '../../src/lib/worker-thread.js';
import { urlInDist } from '../support/dist.js';

const MIB = 2 ** 20;
const ALLOWED = new Set(['lora_path']);
const bodyOf = (model: string, bytes = 1_000): Buffer =>
  Buffer.from(JSON.stringify({ model, messages: [{ role: 'user', content: 'x'.repeat(bytes) }] }));
const asked = (body: Buffer) => ({ body, allowed: ALLOWED });
/** More top-level members than the thread's memory can hold. */
const greedyAnswer = () => ({
  body: Buffer.from(`{${'"a":1,'.repeat(5 * MIB)}"b":1}`),
  endpoint: 'chat',
  encoding: 'float',
  callId: '019aa000-0000-7000-8000-000000000000',
  model: 'm',
  models: new Set(['m']),
  mostBytes: MIB,
});

describe('the worker thread', () => {
  const threads: WorkerThread[] = [];
  const logged: string[] = [];
  const start = (memoryMb?: number): WorkerThread => {
    const thread = new WorkerThread(
      { error: (_fields: unknown, message: string) => void logged.push(message) } as never,
      memoryMb,
    );
    threads.push(thread);
    return thread;
  };
  afterEach(async () => {
    await Promise.all(threads.splice(0).map((thread) => thread.close()));
    logged.length = 0;
  });

  test('returns the result of a job, and transfers buffers without copying', async () => {
    const thread = start();
    const body = bodyOf('gateway/fast', MIB);
    const expected = READ_REQUEST.run(asked(Buffer.from(body)));
    expect(await thread.run('one', 'request', asked(body))).toEqual(expected);
    expect(body).toHaveLength(0);
  });

  test("doesn't transfer memory that a buffer shares with others", async () => {
    const shared = Buffer.concat([Buffer.from('before'), bodyOf('m'), Buffer.from('behind')]);
    const read = await start().run<{ forward: Buffer }>('one', 'request', asked(shared.subarray(6, -6)));
    expect(read.forward.equals(bodyOf('m'))).toBe(true);
    expect(shared.subarray(0, 6).toString()).toBe('before');
  });

  test("fails a job that can't be sent, and runs the next one", async () => {
    const thread = start();
    const unsendable = { body: bodyOf('m'), allowed: () => true };
    await expect(thread.run('one', 'request', unsendable)).rejects.toThrow(/could not be cloned/);
    expect(await thread.run('one', 'request', asked(bodyOf('m')))).toMatchObject({ model: 'm' });
  });

  test('throws the error of a job', async () => {
    await expect(start().run('one', 'request', asked(Buffer.from('{"model":1}')))).rejects.toMatchObject({
      name: 'AppError',
      code: 'invalid_body',
      status: 400,
      options: { param: 'model', message: '"model" must be a string.' },
    });
  });

  test('runs one job at a time, and owners take turns', async () => {
    const thread = start();
    const done: string[] = [];
    const jobs = ['a1', 'a2', 'a3', 'b1', 'c1'].map(async (name) => {
      await thread.run(name[0]!, 'request', asked(bodyOf('m')));
      done.push(name);
    });
    await Promise.all(jobs);
    // After the current job and one more, however many one owner has.
    expect(done).toEqual(['a1', 'a2', 'b1', 'c1', 'a3']);
  });

  test('drops a waiting job whose caller leaves', async () => {
    const thread = start();
    const gone = new AbortController();
    const first = thread.run('one', 'request', asked(bodyOf('m', MIB)));
    const body = bodyOf('m', MIB);
    const second = thread.run('one', 'request', asked(body), gone.signal);
    const third = thread.run('one', 'request', asked(bodyOf('m')));
    gone.abort(new Error('gone'));
    await expect(second).rejects.toThrow('gone');
    await Promise.all([first, third]);
    // It was never sent to the thread.
    expect(body).toHaveLength(bodyOf('m', MIB).length);
  });

  test('fails only the current job when it runs out of memory, and is started again', async () => {
    const thread = start(64);
    const failing = thread.run('one', READ_ANSWER.name, greedyAnswer());
    const next = thread.run('other', 'request', asked(bodyOf('m')));
    await expect(failing).rejects.toMatchObject({ code: 'service_unavailable', status: 503 });
    expect(await next).toMatchObject({ model: 'm' });
    expect(logged).toEqual(['the worker thread ended; the next job starts it again']);
  }, 60_000);

  test('fails its pending jobs when it is closed', async () => {
    const thread = start();
    await thread.run('one', 'request', asked(bodyOf('m')));
    const running = thread.run('one', 'request', asked(bodyOf('m', 9 * MIB)));
    const waiting = thread.run('one', 'request', asked(bodyOf('m')));
    const ends = Promise.allSettled([running, waiting]);
    await thread.close();
    const [, last] = await ends;
    expect(last).toMatchObject({ status: 'rejected', reason: { code: 'service_unavailable' } });
    expect(logged).toEqual([]);
  });

  test("doesn't keep the process alive", async () => {
    const script = `
      import { WorkerThread } from ${JSON.stringify(urlInDist('lib/worker-thread.js'))};
      const body = Buffer.from('{"model":"m"}');
      const busy = setInterval(() => undefined, 1_000);
      const { model } = await new WorkerThread().run('one', 'request', { body, allowed: new Set() });
      clearInterval(busy);
      process.stdout.write(model);`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
    expect(stdout).toBe('m');
  });
});

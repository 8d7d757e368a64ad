import { randomUUID } from 'node:crypto';
import type { RunEventOutput, RunOutput } from '../../src/services/playground/playground.outputs.js';
import { follow } from '../../src/services/playground/runs/follow.js';
import { LiveSession, liveRun } from '../../src/services/playground/runs/live-session.js';

const GATHER_MS = 25;

describe('a follower in the process that makes the runs', () => {
  let session: LiveSession;
  let events: RunEventOutput[];
  let over: Promise<void>;

  beforeEach(async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] });
    const run = () => liveRun({ id: randomUUID(), model_public_name: 'gateway/fast', status: 'running' });
    session = new LiveSession(randomUUID(), randomUUID(), [run(), run()]);
    events = [];
    over = (async () => {
      for await (const event of follow(session)) events.push(event);
    })();
    await pass(0);
    expect(events.splice(0)).toHaveLength(2);
  });
  afterEach(async () => {
    session.gone = true;
    session.changed();
    await over;
    jest.useRealTimers();
  });

  const pass = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);
  /** Adds text to a run. Returns the pieces that the follower has received since. */
  const come = async (nth: 0 | 1, text: string): Promise<[offset: number, delta: string][]> => {
    session.runs[nth]!.text += text;
    session.changed();
    await pass(0);
    return received();
  };
  const received = (): [number, string][] => events.splice(0).map(({ offset, delta }) => [offset, delta]);

  test('gets the first text of each run at once, and the following text soon in one piece', async () => {
    expect(await come(0, 'One')).toEqual([[0, 'One']]);
    expect(await come(1, 'First')).toEqual([[0, 'First']]);
    for (const word of [' two', ' three', ' four']) expect(await come(0, word)).toEqual([]);
    await pass(GATHER_MS);
    expect(received()).toEqual([[3, ' two three four']]);
    // What comes after a pause waits for nothing.
    await pass(GATHER_MS);
    expect(await come(0, ' five')).toEqual([[18, ' five']]);
  });

  test('gets the end of a run at once, with all gathered text', async () => {
    await come(0, 'One');
    expect(await come(0, ' two')).toEqual([]);
    const [run] = session.runs;
    session.end(run!, { status: 'success', ttft_ms: 1, response_content: 'One two three' } as RunOutput);
    await pass(0);
    expect(events).toEqual([expect.objectContaining({ offset: 3, delta: ' two three', run: run!.result })]);
  });
});

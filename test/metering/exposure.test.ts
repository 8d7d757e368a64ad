import { setImmediate as nextTurn } from 'node:timers/promises';
import { realDisk } from '../../src/metering/segment.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { createPayer, finish, intentOf, openMeter, recordOf, temporaryFolder } from './support.js';
import { beyondBounds, watchDisk } from './watched-disk.js';

const TURNS = 250;
/** Time of a sync on a separate disk. */
const SYNC_MS = 3;
/** Longer than the delay and the duration of a sync. */
const QUIET_MS = 100;

/** Goal G2: what a power cut may take. */
describe("the spool's exposure to a power cut", () => {
  let db: TestDatabase;
  let folder: ReturnType<typeof temporaryFolder>;
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  afterAll(() => db.close());
  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(() => {
    jest.useRealTimers();
    folder.remove();
  });

  test.each([8, 40])(
    'at most 256 records stay unsynced for longer than 25 ms, with %d calls per millisecond',
    async (calls) => {
      const payer = await createPayer(db.pool);
      // The product decides when to sync; how late timers fire depends on the machine.
      jest.useFakeTimers({ doNotFake: ['setImmediate', 'clearImmediate', 'nextTick', 'queueMicrotask'] });
      const sync = (): Promise<void> => new Promise((done) => setTimeout(done, SYNC_MS));
      const watched = watchDisk({ write: realDisk.write, sync }, Date.now);
      const { meter } = await openMeter(folder.path, db.pool, { disk: watched.disk });
      const written: Promise<void>[] = [];
      for (let turn = 0; turn < TURNS; turn++) {
        for (let i = 0; i < calls; i++) {
          const { id } = intentOf(payer);
          meter.begin(intentOf(payer, { id }));
          watched.appended();
          written.push(finish(meter, recordOf(payer, { id, inputTokens: 1, outputTokens: 1 })));
          watched.appended();
        }
        await nextTurn();
        await jest.advanceTimersByTimeAsync(1);
      }
      await Promise.all(written);
      await jest.advanceTimersByTimeAsync(QUIET_MS);
      jest.useRealTimers();
      await meter.stop();
      // In the end everything was synced, in many small steps.
      expect(watched.exposures.length).toBeGreaterThan(10);
      expect(watched.exposures.filter(beyondBounds)).toEqual([]);
    },
  );
});

import { describeWith } from '../support/describe-with.js';
import { limitFileSize, PRLIMIT } from '../support/prlimit.js';
import { until } from '../support/until.js';
import { CLEAN, compareBooks } from './rig/books.js';
import { outcome } from './rig/client.js';
import { type Rig, startRig } from './rig/rig.js';

const CALL = { words: 3, ttftMs: 0, chunkMs: 0 };

/** The kernel refuses each write of the edge (EFBIG), as it does on a read-only or broken disk with another code. */
describeWith('util-linux', PRLIMIT, 'an edge whose spool disk fails', () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig('spool-disk');
  }, 60_000);
  afterAll(() => rig?.close(), 60_000);

  test('records calls in the database and reports the degraded spool until the disk works again', async () => {
    const [customer] = await rig.customers(1);
    const call = () => rig.journal.call(rig.url, customer!.key, CALL);
    const readiness = async () => {
      const response = await fetch(rig.edge.metricsUrl.replace('/metrics', '/health/ready'));
      return [response.status, await response.json(), await rig.edge.metric('metering_spool_degraded')];
    };
    expect(outcome(await call())).toBe('200');
    expect(await readiness()).toEqual([200, { status: 'ok' }, 0]);
    limitFileSize(rig.edge.pid()!, 0);
    for (let n = 0; n < 5; n++) expect(outcome(await call())).toBe('200');
    expect(await readiness()).toEqual([200, { status: 'degraded', degraded: ['spool_disk'] }, 1]);
    limitFileSize(rig.edge.pid()!, 'unlimited');
    await until(async () => (await readiness())[2] === 0);
    expect(await readiness()).toEqual([200, { status: 'ok' }, 0]);
    expect(outcome(await call())).toBe('200');
    expect((await compareBooks(rig)).books).toEqual(CLEAN);
  }, 60_000);
});

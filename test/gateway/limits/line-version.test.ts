import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type Duplex, duplexPair } from 'node:stream';
import { CounterHub } from '../../../src/inference/limits/machine/counter-hub.js';
import { CounterLink } from '../../../src/inference/limits/machine/counter-link.js';
import { FrameWriter } from '../../../src/inference/limits/machine/frame-writer.js';
import { LINE_VERSION, VERDICTS } from '../../../src/inference/limits/machine/frames.js';
import type { CounterWords, EdgeWords } from '../../../src/inference/limits/machine/words.js';
import { systemClock } from '../../../src/lib/clock.js';
import { createLogger } from '../../../src/lib/logger.js';

/** The form of each version's frames. A changed one fails here: raise LINE_VERSION and add a line. */
const FORMS: Record<number, string> = {
  1: '084a6b37192e62f4b41bf27f6bebaa661de1ec84310d464c4cb129082c553e99',
  // New words, which have no fixed form.
  2: '084a6b37192e62f4b41bf27f6bebaa661de1ec84310d464c4cb129082c553e99',
  3: '084a6b37192e62f4b41bf27f6bebaa661de1ec84310d464c4cb129082c553e99',
};
const KNOWN = { ref: 1, day: 2, balance: 3n, seq: 4n, spend: 5n };
const OTHER = LINE_VERSION + 1;

/** A restarted edge may be of a later build than the process that counts for it. */
describe('the line between an edge and the process that counts', () => {
  const pair = () => duplexPair() as [Duplex, Duplex];

  test('has the form of its version', async () => {
    const [ours, theirs] = pair();
    const writer = new FrameWriter(ours);
    writer.words({ kind: 'words' });
    writer.take({ ...KNOWN, limit: 6, hold: 7n, cap: 8n });
    writer.take({ ...KNOWN, limit: 6, hold: 7n, cap: null });
    writer.report({
      ...{ ...KNOWN, holds: 9n, charges: 10n, money: 11n, calls: 12 },
      ...{ used: [13, 14], wants: true, closes: 15 },
    });
    for (const verdict of VERDICTS)
      writer.answer({ verdict, id: 16, remaining: 17, resetMs: 18, calls: 19, money: 20n });
    writer.grant({ ref: 21, remaining: 22, calls: 23, money: 24n });
    writer.recall(25);
    writer.flush();
    const [bytes] = (await once(theirs, 'data')) as [Buffer];
    const form = createHash('sha256').update(bytes).digest('hex');
    expect({ [LINE_VERSION]: form }).toEqual({ [LINE_VERSION]: FORMS[LINE_VERSION] });
    expect(Object.keys(FORMS).at(-1)).toBe(String(LINE_VERSION));
  });

  test.each([[OTHER], [undefined]])('ends the start of an edge whose version is not %p', async (version) => {
    const [ours, theirs] = pair();
    const link = new CounterLink(ours);
    const said = { kind: 'state', version, mayAdmit: true, isRegained: false, edges: 1 };
    new FrameWriter(theirs).words(said as CounterWords);
    await expect(link.ready).rejects.toThrow('the running edges are of another build: restart npm start');
    ours.destroy();
  });

  test.each([[OTHER], [undefined]])(
    'is cut by the process that counts when the edge has version %p',
    async (version) => {
      const [ours, theirs] = pair();
      const counter = new CounterHub(systemClock, createLogger('edges', 'silent'));
      try {
        const refused = new Promise<void>((done) => counter.join(theirs, done));
        const closed = once(theirs, 'close');
        new FrameWriter(ours).words({ kind: 'edge', id: 'one', version } as EdgeWords);
        await Promise.all([refused, closed]);
      } finally {
        counter.stop();
      }
    },
  );
});

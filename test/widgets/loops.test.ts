import { Loops } from '../../src/inference/widgets/loops.js';
import { testClock } from '../support/clock.js';
import { useEdge } from '../support/edge-suite.js';
import { chat } from '../support/scripted-upstream.js';
import { until } from '../support/until.js';
import { createTestWidget, refusalOf, say } from './edge-support.js';

const LONG = ['Hello, are you there?', 'Thank you, goodbye then!', 'One last question, please.'];

describe('the loop detector', () => {
  const clock = testClock();
  const talk = () => {
    const loops = new Loops(clock);
    /** Says a text; gives whether it was refused. */
    return (text: string, session = 's', history: string[] = []): boolean => {
      const names = [`session ${session}`, 'address'] as const;
      if (loops.isLoop(names, [...history, text], session !== '')) return true;
      loops.note(names, text);
      return false;
    };
  };

  test('refuses the same message the fifth time in a row, whatever its punctuation', () => {
    const isRefused = talk();
    const texts = [LONG[0]!, ' hello  are you there', 'HELLO, ARE YOU THERE?!', LONG[0]!];
    expect(texts.map((text) => isRefused(text))).toEqual([false, false, false, false]);
    expect(isRefused(LONG[0]!)).toBe(true);
    expect(isRefused('Something else entirely')).toBe(false);
    expect(isRefused(LONG[0]!)).toBe(false);
  });

  test.each([2, 3])('refuses a loop of %i messages in its fifth round', (length) => {
    const isRefused = talk();
    const results = Array.from({ length: 5 * length }, (_, n) => isRefused(LONG[n % length]!));
    expect(results.indexOf(true)).toBe(5 * length - 1);
  });

  test('lets somebody answer "yes" nine times', () => {
    const isRefused = talk();
    expect(Array.from({ length: 10 }, () => isRefused('Yes.')).indexOf(true)).toBe(9);
  });

  test('detects a loop in the history of a request', () => {
    const isRefused = talk();
    const history = Array.from({ length: 4 }, () => LONG[0]!);
    expect(isRefused(LONG[0]!, '', history)).toBe(true);
    expect(isRefused(LONG[1]!, '', history)).toBe(false);
  });

  test('detects one message in many sessions of an address, the twentieth time', () => {
    const isRefused = talk();
    const results = Array.from({ length: 20 }, (_, n) => isRefused('Hello', `session-${n}`));
    expect(results.indexOf(true)).toBe(19);
  });

  test('forgets after ten minutes', () => {
    const isRefused = talk();
    for (let n = 0; n < 4; n++) isRefused(LONG[0]!);
    clock.advance(10 * 60_000);
    expect(isRefused(LONG[0]!)).toBe(false);
  });

  test('never confuses texts without letters', () => {
    const isRefused = talk();
    expect(
      ['?', '!', '…', '👍', '👎', '🙂', '😀', '😅', '🤔', '💡'].map((text) => isRefused(text)),
    ).not.toContain(true);
  });
});

describe('a widget that refuses loops', () => {
  const suite = useEdge();
  beforeEach(() => suite.upstream.answer(chat()));
  const statuses = async (publicKey: string): Promise<number[]> => {
    const found = [];
    for (let n = 0; n < 6; n++) {
      const body = { session_id: 'bot', messages: [{ role: 'user', content: LONG[0]! }] };
      found.push((await say(suite.edge.url, publicKey, { body })).status);
    }
    return found;
  };

  test('reports it, charges nothing for it, and tells the owner', async () => {
    const widget = await createTestWidget(suite.db, { columns: { loop_detection: true } });
    expect(await statuses(widget.publicKey)).toEqual([200, 200, 200, 200, 429, 429]);
    const body = { session_id: 'bot', messages: [{ role: 'user', content: LONG[0]! }] };
    const refused = await say(suite.edge.url, widget.publicKey, { body });
    expect(refused.headers.get('x-should-retry')).toBe('false');
    expect(await refusalOf(refused)).toEqual([429, 'widget_loop_detected']);
    await suite.edge.settled();
    await until(
      async () => {
        const { rows } = await suite.db.pool.query<{ outcome: string; messages: number; cost: string }>(
          'select outcome, messages::int, cost::text from widget_site_days where widget_id = $1 order by 1',
          [widget.id],
        );
        return (
          JSON.stringify(rows) ===
          JSON.stringify([
            { outcome: 'answered', messages: 4, cost: '0.000045600000' },
            { outcome: 'widget_loop_detected', messages: 3, cost: '0.000000000000' },
          ])
        );
      },
      { what: 'the counts' },
    );
  });

  test('is the only one that does', async () => {
    const { publicKey } = await createTestWidget(suite.db);
    expect(await statuses(publicKey)).toEqual([200, 200, 200, 200, 200, 200]);
  });
});

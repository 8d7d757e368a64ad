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
    /** Sends a text. Returns whether it was refused. */
    return (text: string, session = 's', history: string[] = []): boolean => {
      const names = [`session ${session}`, 'address'] as const;
      if (loops.isLoop(names, [...history, text], session !== '')) return true;
      loops.note(names, text);
      return false;
    };
  };

  test('the same message is refused the fifth time in a row, whatever its punctuation', () => {
    const send = talk();
    const texts = [LONG[0]!, ' hello  are you there', 'HELLO, ARE YOU THERE?!', LONG[0]!];
    expect(texts.map((text) => send(text))).toEqual([false, false, false, false]);
    expect(send(LONG[0]!)).toBe(true);
    expect(send('Something else entirely')).toBe(false);
    expect(send(LONG[0]!)).toBe(false);
  });

  test.each([2, 3])('a cycle of %i messages is refused in its fifth turn', (length) => {
    const send = talk();
    const results = Array.from({ length: 5 * length }, (_, n) => send(LONG[n % length]!));
    expect(results.indexOf(true)).toBe(5 * length - 1);
  });

  test('a short message such as "yes" is refused only the tenth time', () => {
    const send = talk();
    expect(Array.from({ length: 10 }, () => send('Yes.')).indexOf(true)).toBe(9);
  });

  test('a cycle in the history of the request is refused', () => {
    const send = talk();
    const history = Array.from({ length: 4 }, () => LONG[0]!);
    expect(send(LONG[0]!, '', history)).toBe(true);
    expect(send(LONG[1]!, '', history)).toBe(false);
  });

  test('one message in many sessions of an address is refused the twentieth time', () => {
    const send = talk();
    const results = Array.from({ length: 20 }, (_, n) => send('Hello', `session-${n}`));
    expect(results.indexOf(true)).toBe(19);
  });

  test('messages are forgotten after ten minutes', () => {
    const send = talk();
    for (let n = 0; n < 4; n++) send(LONG[0]!);
    clock.advance(10 * 60_000);
    expect(send(LONG[0]!)).toBe(false);
  });

  test('different texts without letters never count as equal', () => {
    const send = talk();
    expect(['?', '!', '…', '👍', '👎', '🙂', '😀', '😅', '🤔', '💡'].map((text) => send(text))).not.toContain(
      true,
    );
  });
});

describe('loop detection of a widget', () => {
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

  test('a refused loop gets its own error, is free, and is counted for the owner', async () => {
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

  test('a widget without loop detection refuses no loop', async () => {
    const { publicKey } = await createTestWidget(suite.db);
    expect(await statuses(publicKey)).toEqual([200, 200, 200, 200, 200, 200]);
  });
});

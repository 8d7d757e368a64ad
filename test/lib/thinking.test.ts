import { splitThinking, ThinkingFilter } from '../../src/lib/thinking.js';
import fc from '../support/fast-check.js';
import { sized } from '../support/size.js';

const TEXT = fc
  .array(
    fc.constantFrom(
      ...[
        '<think>',
        '</think>',
        '<thought>',
        '</thought>',
        '[THINK]',
        '[/THINK]',
        '<|channel|>analysis<|message|>',
      ],
      ...['<|channel|>final<|message|>', '<th', '<', '[', ' ', '\n', 'Hm.', 'é'],
    ),
    { maxLength: 12 },
  )
  .map((pieces) => pieces.join(''));

describe('thinking in front of an answer', () => {
  test.each([
    ['Hello.', '', 'Hello.'],
    ['  Hello.', '', '  Hello.'],
    ['<think>\nHm.\n</think>\n\nHello.', 'Hm.', 'Hello.'],
    ['\n<think>a</think> <thought>b</thought> c', 'ab', 'c'],
    ['<think>\n\n</think>\n\nHello.', '', 'Hello.'],
    ['<think>Hm.', 'Hm.', ''],
    ['<thi', '', '<thi'],
    ['Hello. <think>Hm.</think>', '', 'Hello. <think>Hm.</think>'],
    ['Hm.\n</think>\n\nHello.', 'Hm.', 'Hello.'],
    ['Hm.\n</think>', 'Hm.', ''],
    ['The tag </think> ends it.', '', 'The tag </think> ends it.'],
    ['[1, 2]', '', '[1, 2]'],
  ])('is separated from the answer: %j', (text, thinking, answer) => {
    expect(splitThinking(text)).toEqual({ thinking, answer });
  });

  test('is the same wherever the text is cut', () => {
    fc.assert(
      fc.property(TEXT, fc.array(fc.nat(60)), (text, cuts) => {
        const whole = new ThinkingFilter();
        const answer = whole.take(text) + whole.rest();
        const filter = new ThinkingFilter();
        const ends = [...cuts.filter((cut) => cut < text.length).sort((a, b) => a - b), text.length];
        const pieces = ends.map((end, at) => filter.take(text.slice(ends[at - 1] ?? 0, end)));
        expect([pieces.join('') + filter.rest(), filter.thinking]).toEqual([answer, whole.thinking]);
      }),
      { numRuns: sized(500, 5_000) },
    );
  });
});

import { SseSplitter } from '../../src/lib/upstream/sse-splitter.js';
import { seedFrom } from '../support/seed.js';
import { sized } from '../support/size.js';
import { Random } from './fuzz/random.js';

/** Requirements G18, F7: a stream is cut into the same events however its bytes arrive. */
const SPLITS = sized(100_000, 1_000_000);
const STREAMS = 2_000;
const MOST_CUTS = 8;
const seed = seedFrom('FUZZ_SEED');

const PIECES = [
  ...[
    'data: {"a":1}',
    'data:[DONE]',
    'data: {"content":"é🔑"}',
    ': ping',
    'event: x',
    'id: 1',
    'data',
    'data:',
    ':',
  ],
  ...[
    '\n',
    '\n\n',
    '\r\n',
    '\r\n\r\n',
    '\r',
    '\r\r',
    '\n\r\n',
    '\n\n\n',
    ' ',
    '\t',
    '\u0000',
    '\ufeff',
    '\\n',
    'x',
  ],
];

const stream = (random: Random): Buffer =>
  Buffer.from(Array.from({ length: 1 + random.below(14) }, () => random.pick(PIECES)).join(''));

/** Where events end when the bytes arrive in these parts. */
function ends(bytes: Buffer, cuts: readonly number[]): number[] {
  const splitter = new SseSplitter();
  const found: number[] = [];
  let passed = 0;
  const take = (event: Buffer): void => {
    passed += event.length;
    found.push(passed);
  };
  let from = 0;
  for (const cut of cuts) {
    splitter.push(bytes.subarray(from, cut), take);
    from = cut;
  }
  splitter.push(bytes.subarray(from), take);
  return found;
}

test(`a stream has the same events however it is split: ${SPLITS} splits of ${STREAMS} streams, FUZZ_SEED=${seed}`, () => {
  const random = new Random(seed);
  let events = 0;
  for (let i = 0; i < STREAMS; i++) {
    const bytes = stream(random);
    const whole = ends(bytes, []);
    events += whole.length;
    for (let n = 0; n < SPLITS / STREAMS; n++) {
      const cuts = Array.from({ length: 1 + random.below(MOST_CUTS) }, () => random.below(bytes.length + 1));
      cuts.sort((a, b) => a - b);
      const found = ends(bytes, cuts);
      if (found.join() !== whole.join())
        throw new Error(`${JSON.stringify(bytes.toString())} cut at ${cuts}: ${found} instead of ${whole}`);
    }
  }
  expect(events).toBeGreaterThan(STREAMS);
}, 60_000);

import { AnswerTooLargeError } from '../../../src/lib/upstream/answer-limits.js';
import { eventData } from '../../../src/lib/upstream/sse-event.js';
import { SseSplitter } from '../../../src/lib/upstream/sse-splitter.js';
import fc from '../../support/fast-check.js';

const line = fc.string({ unit: 'grapheme', maxLength: 30 }).map((text) => text.replace(/[\r\n]/g, ' '));
const event = fc
  .tuple(
    fc.array(
      fc.oneof(
        line.map((text) => `data: ${text}`),
        line.map((text) => `: ${text}`),
        line.map((text) => `x: ${text}`),
      ),
      { minLength: 1, maxLength: 4 },
    ),
    fc.constantFrom('\n', '\r\n'),
  )
  .map(([lines, end]) => `${lines.join(end)}${end}${end}`);

function split(bytes: Buffer, cuts: number[]): Buffer[] {
  const parts: Buffer[] = [];
  let from = 0;
  for (const cut of [...cuts, bytes.length].map((at) => Math.min(at, bytes.length)).sort((a, b) => a - b)) {
    parts.push(bytes.subarray(from, cut));
    from = cut;
  }
  return parts;
}

function events(parts: Buffer[]): string[] {
  const splitter = new SseSplitter();
  const out: string[] = [];
  for (const part of parts) splitter.push(part, (bytes) => out.push(bytes.toString()));
  return out;
}

describe('the splitter of server-sent events', () => {
  test('finds the same events however the bytes arrive', () => {
    fc.assert(
      fc.property(
        fc.array(event, { maxLength: 6 }),
        fc.array(fc.nat(400), { maxLength: 12 }),
        (list, cuts) => {
          const bytes = Buffer.from(list.join(''));
          expect(events(split(bytes, cuts))).toEqual(events([bytes]));
          expect(events(split(bytes, cuts)).join('')).toBe(list.join(''));
        },
      ),
      { numRuns: 500 },
    );
  });

  test('finds the same events split at every byte', () => {
    const text = 'data: {"a":"é"}\r\n\r\n: ping\n\ndata: 1\ndata: 2\n\nevent: x\ndata:[DONE]\n\r\n';
    const bytes = Buffer.from(text);
    const whole = events([bytes]);
    expect(whole).toHaveLength(4);
    for (let cut = 0; cut <= bytes.length; cut++) expect(events(split(bytes, [cut]))).toEqual(whole);
    expect(events([...bytes].map((byte) => Buffer.from([byte])))).toEqual(whole);
  });

  test('offers bytes as a whole event only after a whole event', () => {
    const splitter = new SseSplitter();
    const offered: string[] = [];
    const found: string[] = [];
    const whole = {
      takeWhole(bytes: Buffer) {
        offered.push(bytes.toString());
        return bytes.toString() === 'data: 1\n\n';
      },
    };
    for (const part of ['data: 1\n\n', ': note', 'data: 1\n\n', 'data: 1\n\ndata: 2\n\n'])
      splitter.push(Buffer.from(part), (bytes) => found.push(bytes.toString()), whole);
    expect(offered).toEqual(['data: 1\n\n', ': note', 'data: 1\n\ndata: 2\n\n']);
    expect(found).toEqual([': notedata: 1\n\n', 'data: 1\n\n', 'data: 2\n\n']);
  });

  test.each([
    ['data: {"a":1}\n\n', '{"a":1}'],
    ['data:{"a":1}\r\n\r\n', '{"a":1}'],
    ['data: a\ndata: b\n\n', 'a\nb'],
    ['event: x\ndata: a\nid: 1\n\n', 'a'],
    ['\ufeffdata: a\n\n', 'a'],
    ['data:\n\n', ''],
    [': ping\n\n', undefined],
    ['event: x\n\n', undefined],
  ])('reads the payload of %j', (text, payload) => {
    expect(eventData(Buffer.from(text))?.toString()).toBe(payload);
  });

  test('refuses an event above its limit, in one piece or in many', () => {
    const big = Buffer.from(`data: ${'x'.repeat(300)}\n\n`);
    expect(() => new SseSplitter(200).push(big, () => undefined)).toThrow(AnswerTooLargeError);
    const dribbled = new SseSplitter(200);
    expect(() => {
      for (const byte of big) dribbled.push(Buffer.from([byte]), () => undefined);
    }).toThrow(AnswerTooLargeError);
  });

  test('joins an event only once, however many pieces it has', () => {
    const event = Buffer.from(`data: ${'x'.repeat(2 ** 18)}\n\n`);
    const before = process.cpuUsage();
    const splitter = new SseSplitter();
    const found: Buffer[] = [];
    for (let at = 0; at < event.length; at++)
      splitter.push(event.subarray(at, at + 1), (bytes) => found.push(bytes));
    expect(found).toEqual([event]);
    const { user, system } = process.cpuUsage(before);
    // Joining again at every byte would take more than ten seconds.
    expect((user + system) / 1_000).toBeLessThan(3_000);
  });
});

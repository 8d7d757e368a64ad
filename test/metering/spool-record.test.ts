import { newId } from '../../src/lib/ids.js';
import {
  decodeFrames,
  eventPayload,
  frameBound,
  HEADER_BYTES,
  headerState,
  intentPayload,
  nextFrame,
  type SpoolEntry,
  segmentHeader,
  writeFrame,
} from '../../src/metering/spool-record.js';
import type { CallIntent, UsageRecord } from '../../src/metering/usage-record.js';
import fc from '../support/fast-check.js';

const count = fc.nat(1_000_000_000);
const money = fc.bigInt(0n, 10n ** 23n);
const uuid = fc.constant(null).map(() => newId());
const call = {
  id: uuid,
  accountId: uuid,
  keyId: fc.option(uuid),
  widgetId: fc.option(uuid),
  requestedModel: fc.string({ unit: 'grapheme' }),
  movedTo: fc.option(fc.string({ unit: 'grapheme', minLength: 1 })),
  endpoint: fc.constantFrom<'chat' | 'embeddings'>('chat', 'embeddings'),
  stream: fc.boolean(),
  promptVersionId: fc.option(uuid),
};
const intents: fc.Arbitrary<CallIntent> = fc.record({ ...call, at: count });
const served = fc.oneof(
  fc.constant({ deployment: null, nodeId: null, nodeCalls: null }),
  fc.record({
    deployment: fc.string({ unit: 'grapheme', minLength: 1 }),
    nodeId: fc.option(uuid),
    nodeCalls: fc.option(count),
  }),
);
const finished = fc.record({
  ...call,
  createdAt: count,
  servedModel: fc.string({ unit: 'grapheme' }),
  inputTokens: count,
  outputTokens: count,
  priceIn: money,
  priceOut: money,
  cost: money,
  latencyMs: count,
  ttftMs: fc.option(count),
  status: fc.constantFrom<'success' | 'error'>('success', 'error'),
  errorCode: fc.option(fc.string()),
  errorMessage: fc.option(fc.string({ unit: 'grapheme', minLength: 1 })),
  httpStatus: fc.integer({ min: 100, max: 599 }),
  clientAborted: fc.boolean(),
  estimated: fc.boolean(),
  anomalous: fc.boolean(),
});
const records: fc.Arbitrary<UsageRecord> = fc
  .tuple(finished, served)
  .map(([record, by]) => ({ ...record, ...by }));
const entries = fc.array(
  fc.oneof(
    intents.map((intent): SpoolEntry => ({ kind: 'intent', intent })),
    records.map((record): SpoolEntry => ({ kind: 'event', record })),
  ),
  { minLength: 1, maxLength: 8 },
);

/** The segment's bytes and the offset after each record. */
function encode(sequence: SpoolEntry[]): { bytes: Buffer; ends: number[] } {
  const payloads = sequence.map((entry) =>
    entry.kind === 'intent' ? intentPayload(entry.intent) : eventPayload(entry.record),
  );
  const target = Buffer.alloc(HEADER_BYTES + payloads.reduce((sum, payload) => sum + frameBound(payload), 0));
  let offset = segmentHeader().copy(target);
  const ends = payloads.map((payload) => {
    offset = writeFrame(target, offset, payload);
    return offset;
  });
  return { bytes: target.subarray(0, offset), ends };
}

const print = (entry: SpoolEntry): string =>
  JSON.stringify(entry, (_key, value) => (typeof value === 'bigint' ? `${value}n` : value));

/** Skips damaged bytes as a replay does. */
function decodeAll(bytes: Buffer): SpoolEntry[] {
  const found: SpoolEntry[] = [];
  for (let offset = HEADER_BYTES; offset !== -1; ) {
    const { entries: whole, end } = decodeFrames(bytes, offset);
    found.push(...whole);
    offset = nextFrame(bytes, end);
  }
  return found;
}

describe('a spool segment', () => {
  test('a cut at any byte leaves exactly the whole records before it, and shows where the torn tail starts', () => {
    fc.assert(
      fc.property(entries, fc.nat(), (sequence, random) => {
        const { bytes, ends } = encode(sequence);
        const cut = HEADER_BYTES + (random % (bytes.length - HEADER_BYTES + 1));
        const whole = ends.filter((end) => end <= cut).length;
        const decoded = decodeFrames(bytes.subarray(0, cut), HEADER_BYTES);
        expect(decoded.entries.map(print)).toEqual(sequence.slice(0, whole).map(print));
        expect(decoded.end).toBe(ends[whole - 1] ?? HEADER_BYTES);
        expect(nextFrame(bytes.subarray(0, cut), decoded.end)).toBe(-1);
      }),
    );
  });

  test('continued reading gives the same records as reading at once', () => {
    fc.assert(
      fc.property(entries, fc.nat(), (sequence, random) => {
        const { bytes } = encode(sequence);
        const first = decodeFrames(bytes.subarray(0, HEADER_BYTES + (random % bytes.length)), HEADER_BYTES);
        const rest = decodeFrames(bytes, first.end);
        expect([...first.entries, ...rest.entries].map(print)).toEqual(sequence.map(print));
        expect(rest.end).toBe(bytes.length);
      }),
    );
  });

  test('any flipped byte costs only its own record and never gives a wrong one', () => {
    fc.assert(
      fc.property(entries, fc.nat(), fc.integer({ min: 1, max: 255 }), (sequence, random, flip) => {
        const { bytes, ends } = encode(sequence);
        const at = HEADER_BYTES + (random % (bytes.length - HEADER_BYTES));
        bytes[at] = bytes[at]! ^ flip;
        const hit = ends.findIndex((end) => at < end);
        const expected = sequence.filter((_entry, index) => index !== hit);
        expect(decodeAll(bytes).map(print)).toEqual(expected.map(print));
      }),
      { numRuns: 300 },
    );
  });

  test('records of the previous build, without deployments, can be read', () => {
    const payload =
      '["e","019aa000-0000-7000-8000-000000000001","019aa000-0000-7000-8000-000000000002",null,null,"gateway/fast","chat",true,1795250000000,"gateway/fast",12,34,"100000","300000","11400000",250,90,"success",null,200,0,"019aa000-0000-7000-8000-000000000003"]';
    for (const [text, promptVersionId] of [
      [payload, '019aa000-0000-7000-8000-000000000003'],
      [payload.replace(/,"[^"]+"\]$/, ']'), null],
    ] as const) {
      const frame = Buffer.alloc(HEADER_BYTES + frameBound(text));
      const end = writeFrame(frame, HEADER_BYTES, text);
      const [entry] = decodeFrames(frame.subarray(0, end), HEADER_BYTES).entries;
      const unknown = { deployment: null, nodeId: null, nodeCalls: null, movedTo: null, errorMessage: null };
      expect(entry).toMatchObject({
        kind: 'event',
        record: { promptVersionId, outputTokens: 34, httpStatus: 200, anomalous: false, ...unknown },
      });
    }
  });

  test('a segment names its version, and another version is not read', () => {
    const header = segmentHeader();
    expect(headerState(header)).toBe('known');
    expect(headerState(header.subarray(0, 7))).toBe('torn');
    header[6]!++;
    expect(headerState(header)).toBe('unknown');
  });
});

import { FrameReader } from '../../../src/lib/link/frame-reader.js';
import { FrameError, KIND, MAX_PAYLOAD_BYTES, readCredit } from '../../../src/lib/link/frames.js';
import { headBytes, readHead, writeHead } from '../../../src/lib/link/head-frame.js';
import { openHeadBytes, readOpen, writeOpenHead } from '../../../src/lib/link/open-frame.js';
import fc from '../../support/fast-check.js';
import { frame } from '../../support/link-end.js';

interface Read {
  kind: number;
  id: number;
  payload: string;
}

/** What a reader makes of bytes that come in these pieces, and what it keeps once the buffer they came in is used again. */
function readIn(pieces: readonly Buffer[]): { frames: Read[]; error: unknown } {
  const frames: Read[] = [];
  const own: { at: number; payload: Buffer }[] = [];
  const reader = new FrameReader((kind, id, payload, isOwn) => {
    if (isOwn) own.push({ at: frames.length, payload });
    frames.push({ kind, id, payload: payload.toString('latin1') });
  });
  let error: unknown;
  const shared = Buffer.alloc(Math.max(1, ...pieces.map(({ length }) => length)));
  for (const piece of pieces) {
    piece.copy(shared);
    try {
      reader.read(shared.subarray(0, piece.length));
    } catch (thrown) {
      error = thrown;
      break;
    }
    shared.fill(0xee);
  }
  for (const { at, payload } of own) expect(payload.toString('latin1')).toBe(frames[at]!.payload);
  return { frames, error };
}

/** Cuts bytes at places given as shares of their length. */
function cut(bytes: Buffer, shares: readonly number[]): Buffer[] {
  const places = [
    0,
    ...shares.map((share) => Math.floor(share * bytes.length)).sort((a, b) => a - b),
    bytes.length,
  ];
  return places.slice(1).map((place, index) => bytes.subarray(places[index], place));
}

const shares = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 40 });
const frames = fc.array(
  fc.record({
    kind: fc.integer({ min: 0, max: 255 }),
    id: fc.integer({ min: 0, max: 0xffffffff }),
    payload: fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.integer({ min: 0, max: MAX_PAYLOAD_BYTES }).map((length) => new Uint8Array(length).fill(length)),
    ),
  }),
  { maxLength: 12 },
);

describe('the frames of a link', () => {
  test('are the same however their bytes are cut', () => {
    fc.assert(
      fc.property(frames, shares, (sent, places) => {
        const bytes = Buffer.concat(
          sent.map(({ kind, id, payload }) => frame(kind, id, Buffer.from(payload))),
        );
        const { frames: read, error } = readIn(cut(bytes, places));
        expect(error).toBeUndefined();
        expect(read).toEqual(
          sent.map(({ kind, id, payload }) => ({
            kind,
            id,
            payload: Buffer.from(payload).toString('latin1'),
          })),
        );
      }),
    );
  });

  test('are the same byte by byte', () => {
    const bytes = Buffer.concat([frame('ping', 0), frame('data', 7, 'abc'), frame('end', 0xffffffff)]);
    expect(readIn([...bytes].map((byte) => Buffer.from([byte]))).frames).toEqual([
      { kind: KIND.ping, id: 0, payload: '' },
      { kind: KIND.data, id: 7, payload: 'abc' },
      { kind: KIND.end, id: 0xffffffff, payload: '' },
    ]);
  });

  test('of any bytes are frames, or one FrameError, and the cut makes no difference to either', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), shares, (random, places) => {
        const bytes = Buffer.from(random);
        const whole = readIn([bytes]);
        const inPieces = readIn(cut(bytes, places));
        expect(whole.error === undefined || whole.error instanceof FrameError).toBe(true);
        expect(inPieces.error === undefined).toBe(whole.error === undefined);
        expect(inPieces.frames).toEqual(whole.frames);
      }),
    );
  });

  test('that are too long end with their header', () => {
    const header = frame('data', 1);
    header.writeUIntBE(MAX_PAYLOAD_BYTES + 1, 1, 3);
    expect(readIn([header]).error).toBeInstanceOf(FrameError);
    expect(readIn([header.subarray(0, 3), header.subarray(3)]).error).toBeInstanceOf(FrameError);
  });

  test('say of a call what was said of it', () => {
    const latin1 = (maxLength: number) =>
      fc.uint8Array({ maxLength }).map((codes) => Buffer.from(codes).toString('latin1'));
    const head = fc.record({
      endpoint: fc.constantFrom('chat' as const, 'embeddings' as const),
      authorization: latin1(300),
      traceparent: fc.option(
        latin1(60).filter((text) => text !== ''),
        { nil: undefined },
      ),
    });
    fc.assert(
      fc.property(head, fc.uint8Array({ maxLength: 200 }), fc.nat({ max: 1_000 }), (said, body, more) => {
        const target = Buffer.alloc(openHeadBytes(said)! + body.length);
        writeOpenHead(target, 0, said, body.length + more);
        Buffer.from(body).copy(target, openHeadBytes(said)!);
        expect(readOpen(target)).toEqual({ ...said, bodyBytes: body.length + more, body: Buffer.from(body) });
      }),
    );
    expect(
      openHeadBytes({ endpoint: 'chat', authorization: 'x'.repeat(5_000), traceparent: undefined }),
    ).toBeUndefined();
  });

  test('say of an answer what was said of it', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 200, max: 599 }),
        fc.boolean(),
        fc.option(fc.nat({ max: 1_000_000 }), { nil: undefined }),
        (status, stream, retryAfterSeconds) => {
          const head = { status, stream, retryAfterSeconds, servedBy: '- 3 node-1' };
          const target = Buffer.alloc(headBytes(head));
          writeHead(target, 0, head);
          expect(readHead(target)).toEqual({
            status,
            contentType: stream ? 'text/event-stream' : 'application/json',
            retryAfter: retryAfterSeconds === undefined ? undefined : String(retryAfterSeconds),
            requestId: undefined,
            servedBy: { deployment: 'node-1', nodeId: null, nodeCalls: 3 },
          });
        },
      ),
    );
  });

  test('that hold anything else throw a FrameError and nothing else', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (random) => {
        for (const read of [readOpen, readHead, readCredit]) {
          try {
            read(Buffer.from(random));
          } catch (error) {
            expect(error).toBeInstanceOf(FrameError);
          }
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

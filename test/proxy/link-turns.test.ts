import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { FrameReader } from '../../src/lib/link/frame-reader.js';
import { KIND, PIECE_BYTES } from '../../src/lib/link/frames.js';
import { unauthorised } from '../../src/proxy/answers.js';
import { LinkedCaller } from '../../src/proxy/link/linked-caller.js';
import { ServedLink, type ServedLinkDeps } from '../../src/proxy/link/served-link.js';
import { frame, opening } from '../support/link-end.js';

const MOST_UNSENT_BYTES = 256 * 1024;
/** What a call may send without credit for more. */
const ANSWER = Buffer.alloc(100 * 1024, 'a');

/** A connection whose peer takes nothing until `goOn` is called. */
class SlowPeer extends Duplex {
  /** The calls whose data has come, frame by frame. */
  readonly frames: number[] = [];
  /** The calls that have ended. */
  readonly ended: number[] = [];
  readonly #reader = new FrameReader((kind, id) => {
    if (kind === KIND.data) this.frames.push(id);
    if (kind === KIND.end) this.ended.push(id);
  });
  #done: (() => void) | undefined;
  #isTaking = false;

  override _read(): void {}

  override _write(bytes: Buffer, _encoding: string, done: () => void): void {
    this.#reader.read(bytes);
    if (this.#isTaking) setImmediate(done);
    else this.#done = done;
  }

  goOn(): void {
    this.#isTaking = true;
    this.#done?.();
  }
}

describe('answers over a link whose edge reads slowly', () => {
  let peer: SlowPeer;
  let link: ServedLink;
  let faults: Error[];
  beforeEach(() => {
    peer = new SlowPeer();
    faults = [];
    const deps: Partial<ServedLinkDeps> = {
      inference: {} as never,
      access: { refusal: () => unauthorised('no key') } as never,
      onFault: (error) => faults.push(error),
    };
    link = new ServedLink(peer as unknown as Socket, deps as ServedLinkDeps);
  });
  const answer = (id: number, bytes: Buffer): boolean => new LinkedCaller(id, link).send([bytes]);

  test('wait in their calls once the link has enough to send', async () => {
    const taken: boolean[] = [];
    for (let id = 0; id < 40; id++) {
      taken.push(answer(id, ANSWER.subarray(0, PIECE_BYTES)));
      await turn();
    }
    expect(taken.slice(0, 8)).not.toContain(false);
    expect(taken.slice(10)).not.toContain(true);
    expect(peer.writableLength).toBeLessThanOrEqual(MOST_UNSENT_BYTES + PIECE_BYTES);
  });

  test('go in turns, and small ones before large ones', async () => {
    for (let id = 0; id < 8; id++) answer(id, ANSWER.subarray(0, PIECE_BYTES));
    await turn();
    const [large, alsoLarge, small] = [8, 9, 10];
    answer(large, ANSWER);
    answer(alsoLarge, ANSWER);
    answer(small, ANSWER.subarray(0, 100));
    await turn();
    peer.goOn();
    while (peer.frames.length < 13) await turn();
    expect(peer.frames.slice(8, 13)).toEqual([small, large, alsoLarge, large, alsoLarge]);
  });

  test('end no link when the body of a call goes on whose refusal still waits', async () => {
    for (let id = 0; id < 8; id++) answer(id, ANSWER.subarray(0, PIECE_BYTES));
    await turn();
    const refused = 50;
    link.read(opening(refused, 'Bearer sk-nobody', 5 * PIECE_BYTES, 'x'));
    link.read(Buffer.concat([frame('body', refused, 'xxx'), frame('body', refused, 'xxx')]));
    await turn();
    expect([faults, peer.destroyed, peer.ended]).toEqual([[], false, []]);
    peer.goOn();
    while (peer.ended.length === 0) await turn();
    expect(peer.ended).toEqual([refused]);
  });
});

import { FrameError } from '../../lib/link/frames.js';
import type { OpenFrame } from '../../lib/link/open-frame.js';

/** A call whose body is on its way. */
export class Incoming {
  readonly body: Buffer;
  #have = 0;

  constructor(
    readonly open: Pick<OpenFrame, 'endpoint' | 'authorization' | 'traceparent'>,
    bodyBytes: number,
    public beganAt: number,
  ) {
    this.body = Buffer.allocUnsafe(bodyBytes);
  }

  get isWhole(): boolean {
    return this.#have === this.body.length;
  }

  /** @throws FrameError when it is longer than was said */
  add(piece: Buffer): void {
    if (piece.length > this.body.length - this.#have) throw new FrameError('more of a body than was said');
    this.#have += piece.copy(this.body, this.#have);
  }
}

import type { Socket } from 'node:net';
import type { CallHead, Carrier } from '../upstream/upstream.js';
import type { UpstreamHandler } from '../upstream/upstream-handler.js';
import { FrameReader } from './frame-reader.js';
import { FrameError, KIND, MAX_CALLS, PIECE_BYTES } from './frames.js';
import { type CallLink, LinkCall } from './link-call.js';
import { openHeadBytes, writeOpenHead } from './open-frame.js';
import { Outbox } from './outbox.js';

/** Who opened a link. */
export interface LinkOwner {
  lookBy(dueAt: number): void;
  /** It takes no further calls. */
  retired(link: Link): void;
  /** It carries nothing any more. */
  gone(link: Link): void;
  /** Carries a call that the link could not. */
  carry(head: CallHead, body: Buffer, handler: UpstreamHandler): Carrier;
}

/** The edge's end of a link: one connection to the model proxy that carries many calls at once. */
export class Link implements CallLink {
  readonly #outbox: Outbox;
  readonly #reader = new FrameReader((kind, id, payload, own) => this.#take(kind, id, payload, own));
  /** By their number. A number is free again when the proxy is done with its call. */
  readonly #calls: (LinkCall | undefined)[] = [];
  readonly #free: number[] = [];
  /** Calls with more of a body to send, in the order of their turns. */
  #sending: LinkCall[] = [];
  #retired = false;
  #gone = false;
  #heard = true;
  #pinged = false;
  readonly #pulse: NodeJS.Timeout;

  /**
   * @param socket Connected, with the upgrade granted; what it reads is given to `read`.
   * @param silenceMs After so long a proxy that says nothing is asked; after as long again the link is retired.
   */
  constructor(
    private readonly socket: Socket,
    private readonly owner: LinkOwner,
    silenceMs: number,
  ) {
    this.#outbox = new Outbox(socket);
    socket.on('drain', () => this.#send());
    socket.on('end', () => this.#lost(new Error('the upstream closed the link')));
    socket.on('error', (error) => this.#lost(error));
    socket.on('close', () => this.#lost(new Error('the upstream closed the link')));
    // What has arrived while the process was busy is read first.
    this.#pulse = setInterval(() => setImmediate(this.#listen), silenceMs).unref();
  }

  /** Calls under way. */
  *calls(): Generator<LinkCall> {
    for (const call of this.#calls) if (call) yield call;
  }

  /** Takes a call, to be sent at the end of this turn; undefined: this link can't carry it. */
  take(head: CallHead, body: Buffer, handler: UpstreamHandler): LinkCall | undefined {
    if (this.#retired || openHeadBytes(head) === undefined) return undefined;
    const id = this.#free.pop() ?? this.#calls.length;
    if (id === MAX_CALLS) return undefined;
    const call = new LinkCall(id, head, body, handler, this);
    this.#calls[id] = call;
    this.#outbox.atTurnEnd(() => this.#open(call));
    return call;
  }

  /** What has come; it may be overwritten afterwards. */
  read(bytes: Buffer): void {
    this.#heard = true;
    try {
      this.#reader.read(bytes);
    } catch (error) {
      this.#lost(error as Error);
    }
  }

  destroy(): void {
    this.#lost(new Error('the client is closed'));
  }

  cancel({ id }: LinkCall): void {
    this.#outbox.add(KIND.cancel, id, 0);
    this.#outbox.atTurnEnd();
  }

  credit({ id }: LinkCall, bytes: number): void {
    this.#outbox.add(KIND.credit, id, 4, (target, at) => target.writeUInt32BE(bytes, at));
    this.#outbox.atTurnEnd();
  }

  later(call: LinkCall): void {
    setImmediate(() => call.deliver());
  }

  lookBy(dueAt: number): void {
    this.owner.lookBy(dueAt);
  }

  /** It takes no further calls, and ends with the last that is under way. */
  retire(): void {
    if (this.#retired) return;
    this.#retired = true;
    this.owner.retired(this);
    this.#endIfUnused();
  }

  #open(call: LinkCall): void {
    const { id, head } = call;
    if (!call.wanted) {
      this.#release(id);
      this.#endIfUnused();
      return;
    }
    if (this.#gone) {
      call.moveTo((...of) => this.owner.carry(...of));
      return;
    }
    call.sent = true;
    const bodyBytes = call.unsentBytes;
    const headBytes = openHeadBytes(head)!;
    // Beside other large bodies it takes turns from its first byte on.
    const piece = call.nextPiece(this.#sending.length > 0 && bodyBytes > PIECE_BYTES ? 0 : PIECE_BYTES);
    this.#outbox.add(KIND.open, id, headBytes + piece.length, (target, at) => {
      writeOpenHead(target, at, head, bodyBytes);
      piece.copy(target, at + headBytes);
    });
    if (call.unsentBytes === 0) return;
    this.#sending.push(call);
    this.#send();
  }

  /** Sends pieces of large bodies in turns, as many as the system takes. */
  #send(): void {
    if (this.#sending.length === 0 || this.#gone) return;
    while (this.#sending.length > 0 && !this.#outbox.full) {
      const call = this.#sending.shift()!;
      if (call.unsentBytes === 0) continue;
      const piece = call.nextPiece();
      this.#outbox.addPieces(KIND.body, call.id, [piece], piece.length);
      if (call.unsentBytes > 0) this.#sending.push(call);
    }
    this.#outbox.flush();
  }

  #take(kind: number, id: number, payload: Buffer, own: boolean): void {
    if (kind === KIND.pong) return;
    if (kind === KIND.drain) {
      this.retire();
      return;
    }
    const call = this.#calls[id];
    if (!call?.sent) throw new FrameError('a frame of a call that there is not');
    switch (kind) {
      case KIND.head:
        call.onHead(payload);
        return;
      case KIND.data:
        call.onData(payload, own);
        return;
      case KIND.end:
      case KIND.cut:
        call.onOver(kind === KIND.end ? 'end' : 'cut');
        this.#release(id);
        this.#endIfUnused();
        return;
      default:
        throw new FrameError('a frame of an unknown kind');
    }
  }

  #release(id: number): void {
    this.#calls[id] = undefined;
    this.#free.push(id);
  }

  readonly #listen = (): void => {
    if (this.#heard) this.#pinged = false;
    else if (this.#pinged) this.retire();
    else {
      this.#pinged = true;
      this.#outbox.add(KIND.ping, 0, 0);
      this.#outbox.flush();
    }
    this.#heard = false;
  };

  #endIfUnused(): void {
    if (this.#retired && this.#free.length === this.#calls.length) this.destroy();
  }

  #lost(error: Error): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#retired = true;
    clearInterval(this.#pulse);
    this.socket.destroy();
    this.owner.gone(this);
    this.#sending = [];
    // Calls not sent yet move to HTTP in `#open`.
    for (const call of this.calls()) if (call.sent) call.lost(error);
  }
}

import type { Socket } from 'node:net';
import type { RequestBounds } from '../../lib/cut-connections.js';
import { FrameReader } from '../../lib/link/frame-reader.js';
import { FrameError, KIND, MAX_CALLS, readCredit } from '../../lib/link/frames.js';
import { type OpenFrame, readOpen } from '../../lib/link/open-frame.js';
import { Outbox } from '../../lib/link/outbox.js';
import type { Span } from '../../lib/tracing/tracing.js';
import type { Access } from '../access.js';
import { bodyOf, type ProxyError, refusalOf } from '../answers.js';
import type { Asked } from '../request.js';
import { INFERENCE_BYTES } from '../route-rules.js';
import { type InferenceDeps, readCall, runCall } from '../take-call.js';
import { Incoming } from './incoming.js';
import { type CallerLink, LinkedCaller } from './linked-caller.js';

export interface ServedLinkDeps {
  inference: InferenceDeps;
  access: Access;
  /** Called when an edge breaks the rules, with which. */
  onFault(error: Error): void;
  /** Called when a call fails for a reason of ours. */
  onFailure(error: unknown): void;
}

/** Of a call, as of a connection that carries one. */
export type LinkBounds = Pick<RequestBounds, 'requestTimeoutMs' | 'stalledReaderMs'>;

const LEAST_FAILURE = 500;
const PATHS = { chat: '/chat/completions', embeddings: '/embeddings' } as const;
const tooLarge = refusalOf('body_too_large');
const failed = refusalOf('internal_error');

/** A call that the edge has opened. */
interface Opened {
  caller: LinkedCaller;
  /** While its body is on its way or its key is looked up. */
  incoming: Incoming | undefined;
  /** Whether its key is known. */
  admitted: boolean;
  /** Whether it is refused. The edge learns of that later, and what comes of its body until then belongs to nobody. */
  refused: boolean;
  span: Span | undefined;
}

/** The proxy's end of a link: the calls of one edge, each checked and answered as if it had come over HTTP. */
export class ServedLink implements CallerLink {
  readonly outbox: Outbox;
  readonly #reader = new FrameReader((kind, id, payload) => this.#take(kind, id, payload));
  /** Calls under way, by their number. */
  readonly #calls: (Opened | undefined)[] = [];
  /** Calls with something to send and credit for it, in the order of their turns: those with little, and with much. */
  readonly #light: LinkedCaller[] = [];
  readonly #heavy: LinkedCaller[] = [];
  #gone = false;

  /** @param socket What it reads is given to `read`. */
  constructor(
    private readonly socket: Socket,
    private readonly deps: ServedLinkDeps,
  ) {
    this.outbox = new Outbox(socket);
    socket.on('data', (bytes: Buffer) => this.read(bytes));
    socket.on('drain', () => this.#send());
    socket.on('end', () => this.destroy());
    socket.on('close', () => this.destroy());
  }

  read(bytes: Buffer): void {
    if (this.#gone) return;
    try {
      this.#reader.read(bytes);
    } catch (error) {
      this.destroy();
      this.deps.onFault(error as Error);
    }
  }

  /** Asks the edge to open no more calls here; it ends the link after the last. */
  drain(): void {
    this.outbox.add(KIND.drain, 0, 0);
    this.outbox.atTurnEnd();
  }

  /** Ends it, and with it all its calls. */
  destroy(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.socket.destroy();
    for (const call of this.#calls) call?.caller.leave();
  }

  /**
   * Cuts calls whose body arrives too slowly, and those whose answer isn't read. The time in which this process was suspended
   * doesn't count.
   */
  cutLate({ requestTimeoutMs, stalledReaderMs }: LinkBounds, suspendedMs: number): void {
    const now = performance.now();
    for (const call of this.#calls) {
      if (!call) continue;
      const { incoming, caller } = call;
      caller.stalledAt += suspendedMs;
      if (incoming) incoming.beganAt += suspendedMs;
      const isLate = incoming && !incoming.isWhole && incoming.beganAt < now - requestTimeoutMs;
      if (isLate || caller.stalledAt < now - stalledReaderMs) caller.leave();
    }
  }

  queue(caller: LinkedCaller): void {
    if (caller.queued) return;
    this.#enqueue(caller);
    this.outbox.atTurnEnd(this.#send);
  }

  over(caller: LinkedCaller): void {
    const { span } = this.#calls[caller.id]!;
    this.#calls[caller.id] = undefined;
    if (!span) return;
    span.note({ 'http.request.method': 'POST', 'http.response.status_code': caller.status });
    if (caller.gone) span.note({ 'gateway.cut': true });
    span.end(caller.status >= LEAST_FAILURE);
  }

  /** Sends pieces of answers in turns, as many as the system takes. */
  readonly #send = (): void => {
    if (this.#gone || this.#light.length + this.#heavy.length === 0) return;
    while (!this.outbox.full) {
      const [light, heavy] = [this.#light.shift(), this.#heavy.shift()];
      if (!light && !heavy) break;
      if (light) this.#sendOf(light);
      if (heavy) this.#sendOf(heavy);
    }
    this.outbox.atTurnEnd();
  };

  #sendOf(caller: LinkedCaller): void {
    caller.queued = false;
    if (caller.sendWaiting()) this.#enqueue(caller);
  }

  #enqueue(caller: LinkedCaller): void {
    if (caller.queued) return;
    caller.queued = true;
    (caller.isHeavy ? this.#heavy : this.#light).push(caller);
  }

  #take(kind: number, id: number, payload: Buffer): void {
    if (kind === KIND.open) {
      this.#open(id, readOpen(payload));
      return;
    }
    if (kind === KIND.ping) {
      this.outbox.add(KIND.pong, 0, 0);
      this.outbox.atTurnEnd();
      return;
    }
    // What is said of a call may cross its end.
    const call = this.#calls[id];
    switch (kind) {
      case KIND.body:
        if (call) this.#more(call, payload);
        return;
      case KIND.cancel:
        call?.caller.leave();
        return;
      case KIND.credit:
        call?.caller.credit(readCredit(payload));
        if (call?.caller.overdrawn) throw new FrameError('more credit than was used');
        return;
      default:
        throw new FrameError('a frame of an unknown kind');
    }
  }

  /** The key is asked for first, as over HTTP: whoever has none is told nothing else. */
  #open(id: number, { endpoint, authorization, traceparent, bodyBytes, body }: OpenFrame): void {
    if (id >= MAX_CALLS || this.#calls[id]) throw new FrameError('an open with a number that is not free');
    const { access, inference } = this.deps;
    const call: Opened = {
      caller: new LinkedCaller(id, this),
      incoming: undefined,
      admitted: false,
      refused: false,
      span: inference.tracing?.begin('POST', traceparent),
    };
    this.#calls[id] = call;
    const refusal = access.refusal('key', authorization);
    if (refusal && !(refusal instanceof Promise)) {
      this.#refuse(call, refusal);
      return;
    }
    if (bodyBytes > INFERENCE_BYTES) {
      this.#refuse(call, tooLarge);
      return;
    }
    call.incoming = new Incoming({ endpoint, authorization, traceparent }, bodyBytes, performance.now());
    call.incoming.add(body);
    if (refusal) {
      void refusal.then((found) => this.#judged(call, found));
    } else {
      call.admitted = true;
      this.#begin(call);
    }
  }

  #judged(call: Opened, refusal: ProxyError | undefined): void {
    if (refusal) {
      this.#refuse(call, refusal);
      return;
    }
    call.admitted = true;
    this.#begin(call);
  }

  #more(call: Opened, piece: Buffer): void {
    if (call.refused) return;
    if (!call.incoming) throw new FrameError('more of a body that is whole');
    call.incoming.add(piece);
    this.#begin(call);
  }

  /** Once the body is whole and the key known. */
  #begin(call: Opened): void {
    const { incoming, caller } = call;
    if (!incoming?.isWhole || !call.admitted || caller.over) return;
    call.incoming = undefined;
    const { open, body } = incoming;
    let asked: Asked | ProxyError = failed;
    try {
      asked = readCall(this.deps.inference, PATHS[open.endpoint], body, open.authorization);
    } catch (error) {
      // The other calls of the link are not to end with it.
      this.deps.onFailure(error);
    }
    if ('member' in asked) void runCall(this.deps.inference, asked, caller, call.span);
    else this.#refuse(call, asked);
  }

  #refuse(call: Opened, error: ProxyError): void {
    call.refused = true;
    call.incoming = undefined;
    call.caller.answer(error.status, Buffer.from(JSON.stringify(bodyOf(error))), error.retryAfterSeconds);
  }
}

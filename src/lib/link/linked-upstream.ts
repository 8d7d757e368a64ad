import type { Socket } from 'node:net';
import type { UpstreamClient } from '../upstream/client.js';
import { LateWatch } from '../upstream/late-watch.js';
import { destinationOf } from '../upstream/socket.js';
import { type CallHead, type Carrier, HttpUpstream, type Upstream } from '../upstream/upstream.js';
import type { UpstreamHandler } from '../upstream/upstream-handler.js';
import { dial } from './dial.js';
import { LINK_PATH } from './handshake.js';
import { Link, type LinkOwner } from './link.js';
import type { LinkCall } from './link-call.js';

export interface LinkedUpstreamOptions {
  url: URL;
  /** Its path prefix, without a trailing slash. */
  basePath: string;
  masterKey: string;
  timeoutMs: number;
  /** Carries calls while there is no link. */
  client: UpstreamClient;
  /** The product's unless a test can't wait for them. */
  times?: Partial<LinkTimes>;
}

/** Milliseconds, each. */
export interface LinkTimes {
  /** A proxy that says nothing for so long is asked whether it is there; for as long again, and it is doubted. */
  silenceMs: number;
  /** After this a link makes room for a new one, so that several proxies behind one address all get calls. */
  renewMs: number;
  /** An upstream that speaks no link is asked again after this: it may have been replaced. */
  refusedMs: number;
  /** One that didn't answer; doubled up to the longest. */
  failedMs: number;
  longestFailedMs: number;
}

const TIMES: Readonly<LinkTimes> = {
  silenceMs: 5_000,
  renewMs: 300_000,
  refusedMs: 300_000,
  failedMs: 250,
  longestFailedMs: 10_000,
};

/**
 * Carries calls over a link where the upstream speaks one, and over HTTP otherwise. It asks in the background, when it is
 * told to and whenever a call finds no link: no call waits for the answer.
 */
export class LinkedUpstream implements Upstream, LinkOwner {
  readonly #http: HttpUpstream;
  readonly #links = new Set<Link>();
  readonly #watch = new LateWatch(() => this.#calls());
  /** The one that new calls go over. */
  #link: Link | undefined;
  #giveUp: (() => void) | undefined;
  #renewAt = 0;
  #askAt = 0;
  #failedMs: number;
  #destroyed = false;
  readonly #times: LinkTimes;

  constructor(private readonly options: LinkedUpstreamOptions) {
    this.#http = new HttpUpstream(options.client, options.basePath);
    this.#times = { ...TIMES, ...options.times };
    this.#failedMs = this.#times.failedMs;
  }

  /** Whether calls go over a link. */
  get linked(): boolean {
    return this.#link !== undefined;
  }

  call(head: CallHead, body: Buffer, handler: UpstreamHandler): Carrier {
    if (!this.#link || performance.now() > this.#renewAt) this.ask();
    return this.#link?.take(head, body, handler) ?? this.carry(head, body, handler);
  }

  /** Asks for a link, unless it has been asked a moment ago. */
  ask(): void {
    if (this.#giveUp || this.#destroyed || performance.now() < this.#askAt) return;
    const { url, basePath, masterKey, timeoutMs } = this.options;
    const asked = {
      destination: destinationOf(url),
      path: basePath + LINK_PATH,
      host: url.host,
      masterKey,
      timeoutMs,
    };
    this.#giveUp = dial(asked, {
      granted: (socket) => {
        const link = this.#opened(socket);
        return (bytes) => link.read(bytes);
      },
      refused: () => this.#answered(this.#times.refusedMs),
      failed: () => {
        this.#answered(this.#failedMs);
        this.#failedMs = Math.min(2 * this.#failedMs, this.#times.longestFailedMs);
      },
    });
  }

  destroy(): void {
    this.#destroyed = true;
    this.#giveUp?.();
    for (const link of [...this.#links]) link.destroy();
    this.#watch.stop();
    this.#http.destroy();
  }

  carry(head: CallHead, body: Buffer, handler: UpstreamHandler): Carrier {
    return this.#http.call(head, body, handler);
  }

  lookBy(dueAt: number): void {
    this.#watch.lookBy(dueAt);
  }

  retired(link: Link): void {
    if (this.#link === link) this.#link = undefined;
  }

  gone(link: Link): void {
    this.retired(link);
    this.#links.delete(link);
  }

  #opened(socket: Socket): Link {
    this.#answered(0);
    this.#failedMs = this.#times.failedMs;
    this.#link?.retire();
    const link = new Link(socket, this, this.#times.silenceMs);
    this.#links.add(link);
    this.#link = link;
    // Edges that began together don't go on together.
    this.#renewAt = performance.now() + this.#times.renewMs * (0.75 + Math.random() / 2);
    return link;
  }

  #answered(waitMs: number): void {
    this.#giveUp = undefined;
    this.#askAt = performance.now() + waitMs;
  }

  *#calls(): Generator<LinkCall> {
    for (const link of this.#links) yield* link.calls();
  }
}

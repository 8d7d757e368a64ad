import type { IncomingMessage, ServerResponse } from 'node:http';
import type { KeyEntry } from '../inference/keys/key-cache.js';
import type { Endpoint } from '../metering/usage-record.js';

/** What metrics call a request's endpoint, refused or not; anything unknown is one label, however many paths are tried. */
export type EndpointLabel = Endpoint | 'models' | 'other';

/** A request of `/v1` and its answer. */
export class Exchange {
  /** Set before the body is read, and again once it has arrived; null for no key, or none that is active. */
  keyEntry: KeyEntry | null = null;
  /** The key that is presented, though it may be disabled or deleted: whose the call is when it is refused. */
  presentedKey: KeyEntry | null = null;
  /** The model that the body names, once it is read. */
  model: string | null = null;
  /** Bytes of the body that were taken so far. */
  bodyBytes = 0;

  constructor(
    /** `x-request-id`, and the id of the usage event. */
    readonly id: string,
    readonly endpoint: EndpointLabel,
    readonly request: IncomingMessage,
    readonly response: ServerResponse,
    /** A call of the Responses API, which becomes a chat call. */
    readonly isTranslated = false,
  ) {}

  /** Whether the client has disconnected. */
  get gone(): boolean {
    return this.request.socket.destroyed;
  }
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { KeyEntry } from '../inference/keys/key-cache.js';
import type { Endpoint } from '../metering/usage-record.js';

/** The endpoint label of a request in metrics. Unknown paths share the label `other`. */
export type EndpointLabel = Endpoint | 'models' | 'other';

/** A request to `/v1` and its response. */
export class Exchange {
  /** Set before the body is read, and again once it has arrived; null without an active key. */
  keyEntry: KeyEntry | null = null;
  /** The key that was presented, even if it is disabled or deleted. A refusal counts for its owner. */
  presentedKey: KeyEntry | null = null;
  /** The model named in the body; null until the body is read. */
  model: string | null = null;
  /** Bytes of the body received so far. */
  bodyBytes = 0;

  constructor(
    /** `x-request-id`, and the id of the usage event. */
    readonly id: string,
    readonly endpoint: EndpointLabel,
    readonly request: IncomingMessage,
    readonly response: ServerResponse,
    /** Whether this is a call of the Responses API, which becomes a chat call. */
    readonly isTranslated = false,
  ) {}

  /** Whether the client has disconnected. */
  get gone(): boolean {
    return this.request.socket.destroyed;
  }
}

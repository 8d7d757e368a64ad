import type { Socket } from 'node:net';
import { type buildConnector, Client, type Dispatcher } from 'undici';

const MAX_HEAD_BYTES = 16 * 1024;
/** Without a `keep-alive` header: Node and uvicorn keep an idle connection for five seconds. */
const IDLE_MS = 4_000;
const MAX_IDLE_MS = 600_000;
/** The upstream counts from its response, and the next request needs some time to arrive. */
const IDLE_MARGIN_MS = 1_000;

/** One connection to the upstream for one exchange at a time. undici opens it with the first request. */
export class UpstreamConnection {
  /** Account of the current or last call. */
  accountId: string | undefined;
  /** When it became idle, in milliseconds of `performance.now()`. */
  idleSince = 0;
  /** Slot of its exchange in the client's `SlotSet`. */
  slot = 0;
  readonly #client: Client;
  #socket: Socket | undefined;

  constructor(
    origin: string,
    connect: buildConnector.connector,
    onClose: (connection: UpstreamConnection) => void,
  ) {
    this.#client = new Client(origin, {
      connect: (options, callback) =>
        connect(options, (...[error, socket]: Parameters<buildConnector.Callback>) => {
          this.#socket = socket ?? undefined;
          if (error) callback(error, null);
          else callback(null, socket!);
        }),
      pipelining: 1,
      // Exchanges have their own timeouts.
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: MAX_HEAD_BYTES,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: MAX_IDLE_MS,
      keepAliveTimeoutThreshold: IDLE_MARGIN_MS,
    });
    this.#client.on('disconnect', () => onClose(this));
  }

  get isOpen(): boolean {
    return this.#socket?.writable === true;
  }

  /** Whether sent bytes are still buffered in this process. */
  get hasUnsentBytes(): boolean {
    return this.#socket !== undefined && this.#socket.writableLength > 0;
  }

  /** Why the connection broke; null if it didn't. */
  get error(): Error | null {
    return this.#socket?.errored ?? null;
  }

  dispatch(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#client.dispatch(request, handler);
  }

  destroy(): void {
    this.#client.destroy(null, () => undefined);
  }
}

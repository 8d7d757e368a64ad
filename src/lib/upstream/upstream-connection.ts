import type { Socket } from 'node:net';
import { type buildConnector, Client, type Dispatcher } from 'undici';

const MAX_HEAD_BYTES = 16 * 1024;
/** Without a `keep-alive` header: Node and uvicorn let a connection rest for five seconds. */
const IDLE_MS = 4_000;
const MAX_IDLE_MS = 600_000;
/** The upstream counts from when it sent its response, and a request is on its way for a while. */
const IDLE_MARGIN_MS = 1_000;

/** One connection to the upstream, which carries one exchange at a time. undici opens it with its first request. */
export class UpstreamConnection {
  /** Whose call it carries, or carried last. */
  accountId: string | undefined;
  /** When it came to rest, in milliseconds of `performance.now()`. */
  restsSince = 0;
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
      // Exchanges have limits of their own.
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

  /** Whether some of what was sent is still in this process. */
  get hasUnsentBytes(): boolean {
    return this.#socket !== undefined && this.#socket.writableLength > 0;
  }

  /** What broke the connection, if it broke. */
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

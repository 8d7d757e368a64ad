import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { ResponseReader, type ResponseSink } from './response-reader.js';

/** Who made a call. After its end, an error or an abort it hears nothing more. */
export interface UpstreamHandler extends ResponseSink {
  /** The answer came whole. */
  onEnd(): void;
  onError(error: Error): void;
}

/** The upstream took longer than it may: to connect, to begin its answer, or to go on with it. */
export class UpstreamTimeoutError extends Error {
  readonly code = 'UPSTREAM_TIMEOUT';
}

/** How long a connection waits, in ticks of its owner. */
export interface ConnectionPatience {
  tickMs: number;
  connectTicks: number;
  headTicks: number;
  bodyTicks: number;
}

/** Where connections lead. */
export interface Destination {
  host: string;
  port: number;
  tls: boolean;
}

/** Who hands out connections. */
export interface ConnectionOwner {
  /** It is ready for another call. */
  free(connection: Connection): void;
  /** It can carry none any more. */
  gone(connection: Connection): void;
}

/** One for all connections: what was read is taken from it before the next read begins. */
const READ_BUFFER = Buffer.alloc(64 * 1024);
/** Up to here a call leaves as one text, which Node writes at once and without a copy on the heap. */
const ONE_PIECE_BYTES = 12 * 1024;
const KEEP_ALIVE_PROBE_MS = 60_000;

/** One connection to the upstream, which carries one call at a time. */
export class Connection {
  readonly #socket: Socket;
  #handler: UpstreamHandler | undefined;
  #reader: ResponseReader | undefined;
  #connected = false;
  #paused = false;
  /** Ticks since the upstream was last heard of. */
  #waited = 0;
  /** Ticks that it may rest for between two calls. */
  #idleTicks = 0;
  #gone = false;

  constructor(
    destination: Destination,
    private readonly patience: ConnectionPatience,
    private readonly owner: ConnectionOwner,
  ) {
    this.#socket = this.#open(destination);
    this.#socket.on('end', () => this.#ended());
    this.#socket.on('error', (error) => this.#fail(error));
    this.#socket.on('close', () => this.#fail(new Error('the upstream closed the connection')));
  }

  /** Whether a call may still be sent on it. */
  get usable(): boolean {
    return !this.#gone && this.#socket.writable;
  }

  get paused(): boolean {
    return this.#paused;
  }

  /** Sends a call: its head with the empty line, and its body. */
  send(head: string, body: Buffer, handler: UpstreamHandler): void {
    this.#handler = handler;
    this.#reader = new ResponseReader(handler);
    this.#waited = 0;
    const socket = this.#socket;
    if (body.length <= ONE_PIECE_BYTES) {
      socket.write(head + body.toString('latin1'), 'latin1');
      return;
    }
    socket.cork();
    socket.write(head, 'latin1');
    socket.write(body);
    socket.uncork();
  }

  /** Ends a call that is still its; the connection is closed, since the rest of the answer would follow. */
  abort(handler: UpstreamHandler): void {
    if (this.#handler === handler) this.#drop();
  }

  pause(handler: UpstreamHandler): void {
    if (this.#handler !== handler || this.#paused) return;
    this.#paused = true;
    this.#socket.pause();
  }

  resume(handler: UpstreamHandler): void {
    if (this.#handler === handler) this.#goOn();
  }

  /** Time goes by. */
  tick(): void {
    // Who is held up by its reader is not late.
    if (this.#paused || ++this.#waited <= this.#mostTicks()) return;
    this.#fail(new UpstreamTimeoutError('the upstream took too long'));
  }

  destroy(): void {
    this.#fail(new Error('the client is closed'));
  }

  #open({ host, port, tls }: Destination): Socket {
    const options = {
      host,
      port,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS,
    };
    if (tls) {
      const socket = connectTls({
        ...options,
        servername: isIP(host) === 0 ? host : '',
        ALPNProtocols: ['http/1.1'],
      });
      socket.on('secureConnect', () => this.#opened());
      socket.on('data', (bytes: Buffer) => this.#read(bytes));
      return socket;
    }
    const callback = (length: number): boolean => {
      this.#read(READ_BUFFER.subarray(0, length));
      return true;
    };
    const socket = connect({ ...options, onread: { buffer: READ_BUFFER, callback } });
    socket.on('connect', () => this.#opened());
    return socket;
  }

  #opened(): void {
    this.#connected = true;
    this.#waited = 0;
  }

  #mostTicks(): number {
    if (!this.#handler) return this.#idleTicks;
    if (!this.#connected) return this.patience.connectTicks;
    return this.#reader?.begun ? this.patience.bodyTicks : this.patience.headTicks;
  }

  #read(bytes: Buffer): void {
    const reader = this.#reader;
    if (!reader) {
      // Bytes that no call has asked for.
      this.#drop();
      return;
    }
    this.#waited = 0;
    try {
      reader.read(bytes);
    } catch (error) {
      if (this.#reader === reader) this.#fail(error as Error);
      return;
    }
    if (reader.done && this.#reader === reader) this.#complete(reader.idleMs);
  }

  #complete(idleMs: number): void {
    const handler = this.#handler!;
    this.#handler = undefined;
    this.#reader = undefined;
    this.#goOn();
    // An answer that came before its request had left: what is left of it would be read as the next one.
    const unsent = this.#socket.writableLength > 0;
    if (idleMs < this.patience.tickMs || unsent || !this.#socket.writable) {
      this.#drop();
    } else {
      this.#waited = 0;
      this.#idleTicks = Math.floor(idleMs / this.patience.tickMs);
      this.owner.free(this);
    }
    try {
      handler.onEnd();
    } catch (error) {
      handler.onError(error as Error);
    }
  }

  #ended(): void {
    try {
      this.#reader?.end();
    } catch (error) {
      this.#fail(error as Error);
      return;
    }
    if (this.#handler) this.#complete(0);
    else this.#drop();
  }

  #fail(error: Error): void {
    const handler = this.#handler;
    this.#drop();
    handler?.onError(error);
  }

  #drop(): void {
    this.#handler = undefined;
    this.#reader?.stop();
    this.#reader = undefined;
    if (this.#gone) return;
    this.#gone = true;
    this.owner.gone(this);
    this.#socket.destroy();
  }

  #goOn(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#waited = 0;
    this.#socket.resume();
  }
}

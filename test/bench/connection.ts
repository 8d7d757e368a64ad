import { connect, type Socket } from 'node:net';

/** What a connection tells of the answer to its current request. */
export interface Listener {
  /** Bytes of the body, chunk framing removed, latin1. */
  body(text: string): void;
  /** The answer is whole; status 0: the connection broke. */
  end(status: number): void;
}

const LENGTH = /\r\ncontent-length: *(\d+)/i;

/** One kept-alive HTTP/1.1 connection, one request at a time, as cheap as reading right can be. */
export class Connection {
  readonly #socket: Socket;
  #listener: Listener | undefined;
  #text = '';
  #status = 0;
  /** Bytes left of a body with a length; -1: chunked. */
  #left = 0;
  closed = false;

  /** `key` is what its requests present: a client keeps its own. */
  constructor(
    port: number,
    readonly key: string,
  ) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#socket.setEncoding('latin1');
    this.#socket.on('data', (text: unknown) => this.#read(text as string));
    this.#socket.on('error', () => undefined);
    this.#socket.on('close', () => this.#broken());
  }

  get idle(): boolean {
    return !this.closed && this.#listener === undefined;
  }

  request(head: string, body: string, listener: Listener): void {
    this.#listener = listener;
    this.#socket.write(`${head}${body}`, 'latin1');
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #broken(): void {
    this.closed = true;
    const listener = this.#listener;
    this.#listener = undefined;
    listener?.end(0);
  }

  #read(text: string): void {
    this.#text += text;
    if (this.#status === 0 && !this.#readHead()) return;
    if (this.#left >= 0) this.#readLength();
    else this.#readChunks();
  }

  #readHead(): boolean {
    const end = this.#text.indexOf('\r\n\r\n');
    if (end < 0) return false;
    const head = this.#text.slice(0, end);
    this.#status = Number(head.slice(9, 12));
    const length = LENGTH.exec(head);
    this.#left = length ? Number(length[1]) : -1;
    this.#text = this.#text.slice(end + 4);
    return true;
  }

  #readLength(): void {
    const part = this.#text.slice(0, this.#left);
    this.#left -= part.length;
    this.#text = this.#text.slice(part.length);
    this.#listener?.body(part);
    if (this.#left === 0) this.#end();
  }

  #readChunks(): void {
    let at = 0;
    for (;;) {
      const lineEnd = this.#text.indexOf('\r\n', at);
      if (lineEnd < 0) break;
      const size = Number.parseInt(this.#text.slice(at, lineEnd), 16);
      const next = lineEnd + 2 + size + 2;
      if (this.#text.length < next) break;
      if (size === 0) {
        this.#text = this.#text.slice(next);
        this.#end();
        return;
      }
      this.#listener?.body(this.#text.slice(lineEnd + 2, next - 2));
      at = next;
    }
    if (at > 0) this.#text = this.#text.slice(at);
  }

  #end(): void {
    const listener = this.#listener;
    const status = this.#status;
    this.#listener = undefined;
    this.#status = 0;
    listener?.end(status);
  }
}

import { connect, type Socket } from 'node:net';

/** Events of a connection about the response to its current request. */
export interface Listener {
  /** Bytes of the body, chunk framing removed, latin1. */
  body(text: string): void;
  /** The response is complete, or the connection broke. */
  end(answer: Answer): void;
}

export interface Answer {
  /** 0: the connection broke. */
  status: number;
  /** `x-request-id`; empty if the target sends none. */
  id: string;
  /** The beginning of a response other than 200. */
  text: string;
}

const ID = /\r\nx-request-id: *([\w-]+)/i;
const FAILURE_CHARS = 200;
const LENGTH = /\r\ncontent-length: *(\d+)/i;

/** One kept-alive HTTP/1.1 connection, one request at a time, as cheap as correct parsing can be. */
export class Connection {
  readonly #socket: Socket;
  #listener: Listener | undefined;
  #text = '';
  #status = 0;
  #failure = '';
  /** `x-request-id` of the current response. */
  id = '';
  /** Bytes left of a body with a length; -1: chunked. */
  #left = 0;
  closed = false;

  constructor(port: number) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#socket.setEncoding('latin1');
    this.#socket.on('data', (text: unknown) => this.#read(text as string));
    this.#socket.on('error', () => undefined);
    this.#socket.on('close', () => this.#broken());
  }

  get idle(): boolean {
    return !this.closed && this.#listener === undefined;
  }

  /** Of the answer that is being read. */
  get status(): number {
    return this.#status;
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
    listener?.end({ status: 0, id: this.id, text: 'the connection broke' });
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
    this.id = ID.exec(head)?.[1] ?? '';
    const length = LENGTH.exec(head);
    this.#left = length ? Number(length[1]) : -1;
    this.#text = this.#text.slice(end + 4);
    return true;
  }

  #readLength(): void {
    const part = this.#text.slice(0, this.#left);
    if (this.#status !== 200) this.#failure = (this.#failure + part).slice(0, FAILURE_CHARS);
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
    const answer: Answer = { status: this.#status, id: this.id, text: this.#failure };
    this.#listener = undefined;
    this.#status = 0;
    this.#failure = '';
    this.id = '';
    listener?.end(answer);
  }
}

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Registry } from 'prom-client';
import { until } from './until.js';

export interface UploadOptions {
  /** `Content-Length`; undefined: chunked. */
  length?: number;
  /** Waits until the edge asks for the body: by then it has looked up the key. */
  asked?: boolean;
}

/** A call whose body a test sends piece by piece, over a separate connection. */
export class Upload {
  /** Everything received. */
  text = '';

  private constructor(
    readonly socket: Socket,
    private readonly chunked: boolean,
  ) {
    socket.on('error', () => undefined);
    socket.on('data', (piece: Buffer) => {
      this.text += piece.toString('latin1');
    });
  }

  /** Sends the headers. */
  static async start(url: string, key: string, { length, asked = true }: UploadOptions): Promise<Upload> {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    await once(socket, 'connect');
    const upload = new Upload(socket, length === undefined);
    socket.write(
      [
        'POST /v1/chat/completions HTTP/1.1',
        'Host: gateway.test',
        `Authorization: Bearer ${key}`,
        length === undefined ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`,
        ...(asked ? ['Expect: 100-continue'] : []),
        '\r\n',
      ].join('\r\n'),
    );
    if (asked)
      await until(() => /HTTP\/1\.1 \d/.test(upload.text), { what: 'the edge to ask', intervalMs: 2 });
    return upload;
  }

  send(piece: string): void {
    this.socket.write(this.chunked ? `${piece.length.toString(16)}\r\n${piece}\r\n` : piece);
  }

  /** Ends a chunked body. */
  end(): void {
    this.socket.write('0\r\n\r\n');
  }

  /** Status of the final response; undefined before it. */
  get status(): number | undefined {
    const found = /HTTP\/1\.1 ([2-5]\d\d) /.exec(this.text)?.[1];
    return found === undefined ? undefined : Number(found);
  }

  /** Status and code, once the response has arrived. */
  async answer(): Promise<{ status: number; code: string | undefined; text: string }> {
    const status = await until(() => (this.text.trimEnd().endsWith('}') ? this.status : undefined), {
      what: 'the answer',
      intervalMs: 2,
    });
    return { status, code: /"code":"(\w+)"/.exec(this.text)?.[1], text: this.text };
  }
}

/** A chat call of exactly this many bytes. */
export function chatBody(bytes: number, fields: Record<string, unknown> = {}): string {
  const empty = JSON.stringify({
    model: 'gateway/fast',
    ...fields,
    messages: [{ role: 'user', content: '' }],
  });
  return empty.replace('""', `"${'x'.repeat(bytes - empty.length)}"`);
}

/** Bytes of bodies and whole responses in the edge's memory, by its metrics. */
export async function bodyBytesOf({ registry }: { registry: Registry }): Promise<number> {
  const { values } = await registry.getSingleMetric('gateway_request_body_bytes')!.get();
  return values[0]!.value;
}

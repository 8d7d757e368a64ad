import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { blurt, converse } from '../hostile/fuzz/wire.js';

/** A request as data. `{key}`, `{token}` and the like are replaced by each build's values. */
export interface Sent {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string | Buffer;
  /** Pieces of the body, with a pause after each. */
  slowBytes?: number;
  /** The client leaves after this many bytes of the body, or this many milliseconds. */
  leave?: { bytes?: number; ms?: number };
}

/** What a client got. */
export interface Got {
  status: number;
  /** In the order of their names. */
  headers: [name: string, value: string][];
  body: string;
  /** How the answer ended: `whole`, `cut` or the client's error code. */
  end: string;
}

const PAUSE_MS = 15;
const PATIENCE_MS = 60_000;
const agent = new Agent({ keepAlive: true, maxSockets: 64 });

const headersOf = (raw: readonly string[]): [string, string][] =>
  raw
    .flatMap((name, i): [string, string][] => (i % 2 === 0 ? [[name.toLowerCase(), raw[i + 1]!]] : []))
    .sort(([a, x], [b, y]) => (a === b ? (x < y ? -1 : 1) : a < b ? -1 : 1));

/** Sends one request and reads its answer. */
export function send(url: string, sent: Sent): Promise<Got> {
  return new Promise((resolve) => {
    const got: Got = { status: 0, headers: [], body: '', end: 'none' };
    const chunks: Buffer[] = [];
    let bytes = 0;
    const body = sent.body === undefined ? undefined : Buffer.from(sent.body as string);
    const request = httpRequest(url + sent.path, {
      method: sent.method,
      // A client that leaves closes the connection.
      agent: sent.leave || sent.slowBytes ? false : agent,
      headers: { ...(body && { 'content-length': String(body.length) }), ...sent.headers },
      timeout: PATIENCE_MS,
    });
    const finish = (end: string): void => {
      got.end = end;
      got.body = Buffer.concat(chunks).toString('latin1');
      resolve(got);
    };
    const leave = (): void => {
      finish('left');
      request.destroy();
    };
    request.on('timeout', () => request.destroy(new Error('timeout')));
    request.on('error', (error: NodeJS.ErrnoException) => finish(error.code ?? error.message));
    request.on('response', (response: IncomingMessage) => {
      got.status = response.statusCode!;
      got.headers = headersOf(response.rawHeaders);
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes >= (sent.leave?.bytes ?? Number.POSITIVE_INFINITY)) leave();
      });
      response.on('error', () => finish('cut'));
      response.on('end', () => finish(response.complete ? 'whole' : 'cut'));
    });
    if (sent.leave?.ms !== undefined) setTimeout(leave, sent.leave.ms);
    if (sent.slowBytes && body) void trickle(request, body, sent.slowBytes);
    else request.end(body);
  });
}

async function trickle(request: ReturnType<typeof httpRequest>, body: Buffer, step: number): Promise<void> {
  for (let at = 0; at < body.length; at += step) {
    if (request.destroyed) return;
    request.write(body.subarray(at, at + step));
    await delay(PAUSE_MS);
  }
  request.end();
}

/** A request in the bytes of HTTP/1.1, one character each. */
export function textOf({ method, path, headers, body = '' }: Sent): string {
  const bytes = Buffer.from(body as string).toString('latin1');
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [
    `${method} ${path} HTTP/1.1`,
    'Host: x',
    ...lines,
    `Content-Length: ${bytes.length}`,
    '',
    bytes,
  ].join('\r\n');
}

/** Sends requests over one connection without waiting for answers. */
export async function pipeline(url: string, sent: readonly Sent[]): Promise<Got[]> {
  const requests = sent.map((one) => ({ method: one.method, text: textOf(one) }));
  const { answers, broken } = await converse(url, requests, requests.length);
  return sent.map((_, i) => {
    const answer = answers[i];
    if (!answer) return { status: 0, headers: [], body: '', end: broken ?? 'none' };
    const lines = answer.head.split('\r\n').slice(1);
    const raw = lines.flatMap((line) => [
      line.slice(0, line.indexOf(':')),
      line.slice(line.indexOf(':') + 2),
    ]);
    return { status: answer.status, headers: headersOf(raw), body: answer.body, end: 'whole' };
  });
}

/** Sends bytes that need not be HTTP. The body is everything that comes back. */
export async function sendBytes(url: string, bytes: string): Promise<Got> {
  const { text, broken } = await blurt(url, bytes);
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0),
    headers: [],
    body: text,
    end: broken ?? 'whole',
  };
}

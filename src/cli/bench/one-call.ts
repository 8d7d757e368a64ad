import { type Agent, type IncomingMessage, request } from 'node:http';
import { request as secureRequest } from 'node:https';

/** The measurement of one request. */
export interface Measured {
  ok: boolean;
  latencyMs: number;
  /** Generated tokens, from the usage of the answer. */
  tokens: number;
  /** Time to the first token; streams only. */
  ttftMs?: number | undefined;
  /** Times between consecutive tokens. */
  gapsMs: number[];
  /** Time from the first token to the last, per token after the first. */
  tpotMs?: number | undefined;
  /** Why it failed. */
  error?: string;
}

export interface Asking {
  url: URL;
  key: string;
  body: string;
  stream: boolean;
  agent: Agent;
}

const TIMEOUT_MS = 600_000;
const DONE = '[DONE]';

interface Chunk {
  choices?: { delta?: Record<string, unknown>; message?: unknown }[];
  usage?: { completion_tokens?: number } | null;
  error?: { message?: string };
}

/** Whether a chunk of a stream carries generated content, rather than the role alone. */
const hasToken = ({ choices = [] }: Chunk): boolean =>
  choices.some(({ delta = {} }) =>
    Object.entries(delta).some(
      ([name, value]) => name !== 'role' && value !== null && value !== '' && value !== undefined,
    ),
  );

/** Reads the events of a stream and the times at which their lines ended. */
export class StreamReader {
  readonly times: number[] = [];
  tokens = 0;
  done = false;
  error: string | undefined;
  #rest = '';

  push(text: string, at: number): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop()!;
    for (const line of lines) if (line.startsWith('data:')) this.#event(line.slice(5).trim(), at);
  }

  #event(data: string, at: number): void {
    if (data === DONE) {
      this.done = true;
      return;
    }
    try {
      this.#chunk(JSON.parse(data) as Chunk, at);
    } catch {
      // `push` runs in a listener: an exception would end the process, and with it the whole run.
      this.error ??= 'a line of the stream is not a chunk';
    }
  }

  #chunk(chunk: Chunk, at: number): void {
    if (chunk.error) this.error ??= chunk.error.message ?? 'an error in the stream';
    if (chunk.usage) this.tokens = chunk.usage.completion_tokens ?? 0;
    if (hasToken(chunk)) this.times.push(at);
  }
}

const failed = (began: number, error: string): Measured => ({
  ok: false,
  latencyMs: performance.now() - began,
  tokens: 0,
  gapsMs: [],
  error,
});

/** The measurement of a stream. */
export function ofStream(reader: StreamReader, began: number, ended: number): Measured {
  const { times, tokens } = reader;
  if (reader.error !== undefined || !reader.done)
    return failed(began, reader.error ?? 'the stream broke off');
  const [first, last] = [times[0], times.at(-1)];
  return {
    ok: true,
    latencyMs: ended - began,
    tokens,
    ttftMs: first === undefined ? undefined : first - began,
    gapsMs: times.slice(1).map((time, index) => time - times[index]!),
    tpotMs: first === undefined || tokens < 2 ? undefined : (last! - first) / (tokens - 1),
  };
}

function ofWhole(text: string, began: number, ended: number): Measured {
  const { usage } = JSON.parse(text) as Chunk;
  return { ok: true, latencyMs: ended - began, tokens: usage?.completion_tokens ?? 0, gapsMs: [] };
}

async function read(response: IncomingMessage, stream: boolean, began: number): Promise<Measured> {
  const reader = new StreamReader();
  const isStream = stream && response.statusCode === 200;
  let text = '';
  response.setEncoding('utf8');
  response.on('data', (piece: string) => {
    if (isStream) reader.push(piece, performance.now());
    else text += piece;
  });
  await new Promise<void>((resolve, reject) => {
    response.once('end', resolve);
    response.once('error', reject);
  });
  const ended = performance.now();
  if (response.statusCode !== 200)
    return failed(began, `status ${response.statusCode}: ${text.slice(0, 200)}`);
  return isStream ? ofStream(reader, began, ended) : ofWhole(text, began, ended);
}

/** Makes one chat completion and measures it from the request's first byte to the answer's last. Never rejects. */
export async function oneCall({ url, key, body, stream, agent }: Asking): Promise<Measured> {
  const began = performance.now();
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const send = url.protocol === 'https:' ? secureRequest : request;
      const call = send(url, {
        method: 'POST',
        agent,
        timeout: TIMEOUT_MS,
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
        },
      });
      call.once('response', resolve);
      call.once('error', reject);
      call.once('timeout', () => call.destroy(new Error('no byte for ten minutes')));
      call.end(body);
    });
    return await read(response, stream, began);
  } catch (error) {
    return failed(began, (error as Error).message);
  }
}

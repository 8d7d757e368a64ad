import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as received by an upstream. */
export interface SeenRequest {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
  /** Whether the caller closed before the response was complete. */
  aborted: boolean;
}

export type Script = (request: SeenRequest, response: ServerResponse) => unknown;

export interface ScriptedUpstream {
  url: string;
  seen: SeenRequest[];
  /** Requests whose headers have arrived, with or without their body. */
  begun(): number;
  /** Script of the next calls. */
  answer(script: Script): void;
  close(): Promise<void>;
}

/** An upstream over real HTTP that follows a test's script and remembers its requests. */
export async function startScriptedUpstream(port = 0): Promise<ScriptedUpstream> {
  const seen: SeenRequest[] = [];
  let script: Script = (_request, response) => chat()(_request, response);
  let begun = 0;
  const server = createServer((request, response) => {
    // A request for a link (src/lib/link) isn't one of the calls.
    if (request.headers.upgrade) {
      response.writeHead(404).end();
      return;
    }
    const chunks: Buffer[] = [];
    begun++;
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const record: SeenRequest = {
        method: request.method!,
        url: request.url!,
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
        aborted: false,
      };
      response.on('close', () => {
        record.aborted = !response.writableFinished;
      });
      if (request.url === '/v1/models' || request.url === '/v1/model/info') {
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"object":"list","data":[]}');
        return;
      }
      seen.push(record);
      void script(record, response);
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    begun: () => begun,
    answer(next) {
      script = next;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A plain chat answer. */
export function chat(
  fields: Record<string, unknown> = {},
  status = 200,
  headers: Record<string, string> = {},
): Script {
  // Some responses have megabytes and are sent again and again.
  let made: { model: string; body: Buffer } | undefined;
  const bodyFor = (model: string): Buffer => {
    const text = JSON.stringify({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model,
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 12, completion_tokens: 34, total_tokens: 46 },
      ...fields,
    });
    return Buffer.from(text);
  };
  return (request, response) => {
    const { model } = JSON.parse(request.body) as { model: string };
    if (made?.model !== model) made = { model, body: bodyFor(model) };
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(made.body);
  };
}

/** An answer with a vector for each input. */
export function embeddings(fields: Record<string, unknown> = {}): Script {
  return (request, response) => {
    const { model, input } = JSON.parse(request.body) as { model: string; input: unknown };
    const isList = Array.isArray(input) && typeof input[0] !== 'number';
    const data = Array.from({ length: isList ? input.length || 1 : 1 }, (_, index) => ({
      object: 'embedding',
      index,
      embedding: [1],
    }));
    const body = JSON.stringify({ object: 'list', model, data, ...fields });
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  };
}

/** An answer of any kind. */
export function raw(status: number, body: string | Buffer, headers: Record<string, string> = {}): Script {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
  };
}

/** One chunk of a chat stream as an event. */
export function chunkEvent(fields: Record<string, unknown>): string {
  return `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'gateway/fast', ...fields })}\n\n`;
}

export const delta = (content: string): string =>
  chunkEvent({ choices: [{ index: 0, delta: { content }, finish_reason: null }] });
export const usageEvent = (input: number, output: number): string =>
  chunkEvent({
    choices: [],
    usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
  });
export const DONE_EVENT = 'data: [DONE]\n\n';
export const FULL_STREAM = [
  chunkEvent({ choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }] }),
  delta('Hel'),
  delta('lo.'),
  chunkEvent({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
  usageEvent(12, 34),
  DONE_EVENT,
];

/** A stream whose parts are written one by one; `finish` false keeps it open. */
export function stream(parts: readonly (string | Buffer)[], { finish = true } = {}): Script {
  return async (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    for (const part of parts) {
      if (response.destroyed) return;
      response.write(part);
      await new Promise((next) => setImmediate(next));
    }
    if (finish) response.end();
  };
}

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../../lib/clock.js';
import { idleCloser } from '../../lib/lifecycle.js';
import { answerChat } from './chat.js';
import type { Controls } from './controls.js';
import { chanceOf } from './random.js';
import { Reply, type TokenPace } from './reply.js';
import { Refusal, readChat, readEmbedding } from './requests.js';
import { chatBody, chatEvents, embeddingJson, toJson } from './wire.js';

const BODY_LIMIT_BYTES = 16 * 1024 * 1024;
/** Whether the answer is a plain error. A stream with `error_first` puts its status into the first event instead. */
const isErrorStatus = ({ status, error_first: first }: Controls, stream: boolean): boolean =>
  (status !== undefined && !(first && stream)) || (first === true && !stream);

export interface SimulatorOptions {
  clock: Clock;
  /** Model IDs that `GET /v1/models` lists. Calls to any other name are answered too. */
  models: readonly string[];
  /** Whether prompts may contain controls; true by default. Otherwise a control is text like any other. */
  controls?: boolean;
  /** Port on loopback; 0 picks a free one. */
  port?: number;
}

export interface Simulator {
  /** Base URL, including `/v1`. */
  url: string;
  /** Counts of calls that began, run now, and were abandoned by their caller. */
  stats(): { begun: number; running: number; abandoned: number };
  /** Ends running calls and stops. */
  close(): Promise<void>;
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_LIMIT_BYTES) throw new Refusal('The body is too large.', null, 413);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    throw new Refusal('The body is not valid JSON.');
  }
}

/** The first token comes after 30 to 80 ms, then one every 5 to 15 ms; always the same for the same prompt. */
function paceOf(prompt: string, controls: Controls): TokenPace {
  const chance = chanceOf(`pace\n${prompt}`);
  return {
    ttftMs: controls.ttft_ms ?? chance.integer(30, 80),
    chunkMs: () => controls.chunk_ms ?? chance.integer(5, 15),
  };
}

/** An OpenAI-compatible node without a model: deterministic answers, and faults on demand (docs/simulator.md). */
export async function startSimulator({
  clock,
  models,
  controls: steered = true,
  port = 0,
}: SimulatorOptions): Promise<Simulator> {
  let url = '';
  const counts = { begun: 0, running: 0, abandoned: 0 };
  const seconds = (): number => Math.floor(clock.now() / 1000);

  const chat = async (raw: unknown, reply: Reply): Promise<void> => {
    const request = readChat(raw, steered);
    const { body, controls, prompt } = request;
    const stream = body.stream === true;
    await reply.wait(controls.delay_ms ?? 0);
    if (isErrorStatus(controls, stream)) {
      const status = controls.status ?? 503;
      return reply.error(status, `simulated error ${status}`, controls);
    }
    if (controls.form !== undefined) return reply.form(controls.form);
    const answer = answerChat(request);
    const pace = paceOf(prompt, controls);
    if (stream) {
      const includeUsage = body.stream_options?.include_usage === true;
      return reply.stream(chatEvents(answer, seconds(), includeUsage, controls), pace, controls);
    }
    await reply.wait(pace.ttftMs + (controls.chunk_ms ?? 0) * answer.completionTokens);
    return reply.json(toJson(chatBody(answer, seconds(), controls.usage)), controls);
  };

  const embeddings = async (raw: unknown, reply: Reply): Promise<void> => {
    const request = readEmbedding(raw, steered);
    const { controls } = request;
    await reply.wait(controls.delay_ms ?? 0);
    if (isErrorStatus(controls, false)) {
      const status = controls.status ?? 503;
      return reply.error(status, `simulated error ${status}`, controls);
    }
    if (controls.form !== undefined) return reply.form(controls.form);
    await reply.wait(controls.ttft_ms ?? 0);
    return reply.jsonInPieces(embeddingJson(request), controls);
  };

  const listModels = (reply: Reply): Promise<void> => {
    const data = models.map((id) => ({ id, object: 'model', created: seconds(), owned_by: 'simulator' }));
    return reply.json(JSON.stringify({ object: 'list', data }), {});
  };

  const route = async (request: IncomingMessage, reply: Reply): Promise<void> => {
    const target = `${request.method} ${request.url}`;
    if (target === 'POST /v1/chat/completions') return chat(await readBody(request), reply);
    if (target === 'POST /v1/embeddings') return embeddings(await readBody(request), reply);
    if (target === 'GET /v1/models') return listModels(reply);
    throw new Refusal('Not Found', null, 404);
  };

  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    counts.begun++;
    counts.running++;
    let broken = false;
    response.on('close', () => {
      counts.running--;
      if (!response.writableFinished && !broken) counts.abandoned++;
    });
    const reply = new Reply(response, url);
    route(request, reply).then(
      () => {
        broken = response.destroyed;
      },
      (error: unknown) => {
        if (error instanceof Refusal) reply.refuse(error);
        // A broken connection would look as if the node were gone.
        else if (!response.headersSent && !response.destroyed) reply.error(500, 'The simulator failed.');
        else response.destroy();
      },
    );
  });
  const closing = idleCloser(server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;

  return {
    url,
    stats: () => ({ ...counts }),
    async close() {
      server.closeAllConnections();
      await closing(() => new Promise<void>((resolve) => server.close(() => resolve())));
    },
  };
}

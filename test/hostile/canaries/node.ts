import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DONE_EVENT, delta, usageEvent } from '../../support/scripted-upstream.js';

/** How a node answers a call: its prompt says so. */
export type Behaviour =
  | 'whole'
  | 'stream'
  | 'refuse'
  | 'unauthorised'
  | 'crash'
  | 'garbage'
  | 'broken'
  | 'error-chunk'
  | 'endless';

export interface CanaryNode {
  /** Its address; the canary of it is part of the path. */
  url: string;
  /** Bearers that calls came with. */
  bearers: Set<string>;
  /** Endless answers under way. */
  endless(): number;
  close(): Promise<void>;
}

export interface NodeSecrets {
  /** In its address, its headers and its errors. */
  address: string;
  /** In its errors. */
  stack: string;
  /** In its answers to whoever asks. */
  answer: string;
}

/** A GPU node that tells about itself whatever nodes tell, and more. */
export async function startCanaryNode(secrets: NodeSecrets): Promise<CanaryNode> {
  const bearers = new Set<string>();
  const endless = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => undefined);
    request.on('end', () => {
      bearers.add(request.headers.authorization ?? '');
      const body = Buffer.concat(chunks).toString();
      const behaviour = (/behave:([\w-]+)/.exec(body)?.[1] ?? 'whole') as Behaviour;
      for (const name of ['server', 'via', 'x-litellm-model-api-base', 'x-node', 'set-cookie'])
        response.setHeader(name, `${secrets.address}=1`);
      if (behaviour === 'endless') {
        endless.add(response);
        response.once('close', () => endless.delete(response));
      }
      const asked = `${request.headers.authorization} ${request.headers.host}${request.url} ${body}`;
      answer(behaviour, request.url!.endsWith('/embeddings'), asked, secrets, response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/${secrets.address}/v1`,
    bearers,
    endless: () => endless.size,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const USAGE = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 };

function answer(
  behaviour: Behaviour,
  embeddings: boolean,
  asked: string,
  { address, stack, answer: text }: NodeSecrets,
  response: ServerResponse,
): void {
  const json = (status: number, body: unknown) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  // Nodes repeat what they were asked in their errors, with key, address and model.
  const fault = {
    error: {
      message: `Traceback /srv/${stack}/app.py http://${address}.internal:8000/v1 asked: ${asked.slice(0, 3_000)}`,
      type: address,
      param: stack,
      code: stack,
      traceback: asked,
    },
  };
  if (behaviour === 'refuse')
    json(400, {
      error: {
        message: `too long, says http://${address}.internal:8000, asked: ${asked.slice(0, 1_500)}`,
        param: 'messages',
        traceback: stack,
      },
    });
  else if (behaviour === 'unauthorised') json(401, fault);
  else if (behaviour === 'crash') json(500, fault);
  else if (behaviour === 'garbage')
    response.writeHead(200, { 'content-type': 'application/json' }).end(`{"${stack}": ${asked}`);
  else if (embeddings)
    json(200, { object: 'list', model: address, data: [{ index: 0, embedding: [0.5] }], usage: USAGE });
  else if (behaviour === 'whole') {
    const message = { role: 'assistant', content: text };
    json(200, {
      id: 'x',
      object: 'chat.completion',
      model: address,
      choices: [{ index: 0, message, finish_reason: 'stop' }],
      usage: USAGE,
    });
  } else stream(behaviour, fault, text, response);
}

function stream(behaviour: Behaviour, fault: unknown, text: string, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(delta(text));
  if (behaviour === 'stream') response.end(delta(text) + usageEvent(5, 7) + DONE_EVENT);
  else if (behaviour === 'error-chunk') response.end(`data: ${JSON.stringify(fault)}\n\n`);
  else if (behaviour === 'broken') setTimeout(() => response.destroy(), 50);
}

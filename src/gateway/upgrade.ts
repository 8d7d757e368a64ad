import { request as httpRequest, type IncomingMessage, ServerResponse } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** For the last bytes to an end whose other end is gone. */
const LINGER_MS = 1_000;
const KEEP_ALIVE_MS = 30_000;

/** Of the client's headers only these pass: who asks, from which page, and the handshake itself. */
const ASKED = [
  'cookie',
  'origin',
  'sec-fetch-site',
  'authorization',
  'user-agent',
  'sec-websocket-key',
  'sec-websocket-version',
  'sec-websocket-protocol',
] as const;
const GRANTED = ['sec-websocket-accept', 'sec-websocket-protocol'] as const;

export interface UpgradeOptions {
  platformUrl: string;
  /** From the connection to the platform to its answer. */
  timeoutMs: number;
  /** Headers that say where a request comes from. */
  forwarded(request: FastifyRequest): Record<string, string>;
  /** Sends the platform's answer when it is not 101. */
  refused(reply: FastifyReply, answer: IncomingMessage): void;
  /** Called when the platform has granted the upgrade. */
  granted(request: FastifyRequest): void;
  /** Answers a client whose request the platform did not take. */
  failed(reply: FastifyReply, error: Error): void;
}

export interface Upgrades {
  /** Whether a request asks for an upgrade. */
  asked(request: FastifyRequest): boolean;
  /** Passes such a request on. */
  pass(request: FastifyRequest, reply: FastifyReply): void;
  /** Cuts every connection that was upgraded. */
  close(): void;
}

/**
 * Routes an upgrade like every other request, and hands its connection over once the platform has agreed. Until then
 * the answer is an ordinary one: 404 for a path that isn't there, what the platform says to a foreign page, 502 while
 * it is away.
 */
export function acceptUpgrades(app: FastifyInstance, options: UpgradeOptions): Upgrades {
  const waiting = new WeakMap<IncomingMessage, Socket>();
  const open = new Set<Socket>();
  app.server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    socket.on('error', () => undefined);
    // What follows an upgrade before its answer could be read as another request by somebody else. Behind a request that
    // is still being answered, the connection isn't ours to hand over.
    if (head.length > 0 || (socket as { _httpMessage?: unknown })._httpMessage) {
      socket.destroy();
      return;
    }
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.on('finish', () => socket.destroySoon());
    // Node forwards this event only for sockets that it still manages.
    socket.on('drain', () => response.emit('drain'));
    waiting.set(request, socket);
    app.routing(request, response);
  });
  return {
    asked: (request) => waiting.has(request.raw),
    pass(request, reply) {
      passOn(request, reply, waiting.get(request.raw)!, options, open);
    },
    close() {
      for (const socket of open) socket.destroy();
    },
  };
}

function passOn(
  request: FastifyRequest,
  reply: FastifyReply,
  client: Socket,
  options: UpgradeOptions,
  open: Set<Socket>,
): void {
  const asked = ask(request, options);
  // Who speaks before the answer is no WebSocket, and who ends before it has left.
  const early = (): void => void client.destroy();
  client.on('data', early).on('end', early);
  const answered = (): void => void client.off('data', early).off('end', early);
  client.once('close', () => asked.destroy());
  asked.on('upgrade', (answer, platform: Socket, first) => {
    reply.hijack();
    reply.raw.detachSocket(client);
    answered();
    options.granted(request);
    client.write(grant(answer));
    client.write(first);
    join(client, platform);
    open.add(client);
    client.once('close', () => open.delete(client));
  });
  asked.on('response', (answer) => {
    answered();
    options.refused(reply, answer);
  });
  asked.on('error', (error) => {
    answered();
    if (!reply.sent && !client.destroyed) options.failed(reply, error);
  });
  asked.end();
}

function ask(request: FastifyRequest, { platformUrl, timeoutMs, forwarded }: UpgradeOptions) {
  const { headers, url } = request.raw;
  const copied = ASKED.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]]));
  const send = platformUrl.startsWith('https:') ? httpsRequest : httpRequest;
  const asked = send(`${new URL(platformUrl).origin}${url}`, {
    agent: false,
    headers: {
      ...(Object.fromEntries(copied) as Record<string, string>),
      ...forwarded(request),
      connection: 'Upgrade',
      upgrade: 'websocket',
    },
  });
  asked.setTimeout(timeoutMs, () => asked.destroy(new Error('the platform did not answer an upgrade')));
  return asked;
}

/** The head of the answer that ends HTTP on a connection. */
function grant({ headers }: IncomingMessage): string {
  const lines = GRANTED.flatMap((name) => (headers[name] === undefined ? [] : [`${name}: ${headers[name]}`]));
  return [
    'HTTP/1.1 101 Switching Protocols',
    'upgrade: websocket',
    'connection: Upgrade',
    ...lines,
    '\r\n',
  ].join('\r\n');
}

/** Both directions with back-pressure; either end's end is the other's. */
function join(client: Socket, platform: Socket): void {
  for (const [from, to] of [
    [client, platform],
    [platform, client],
  ] as const) {
    from.setTimeout(0);
    from.setNoDelay(true);
    from.setKeepAlive(true, KEEP_ALIVE_MS);
    from.on('error', () => undefined);
    from.pipe(to);
    // An end that takes nothing more would hold the connection for ever.
    from.once('close', () => setTimeout(() => to.destroy(), LINGER_MS).unref());
  }
}

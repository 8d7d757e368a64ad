import { request as httpRequest, type IncomingMessage, ServerResponse } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { type Duplex, pipeline } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { errorBody } from '../errors.js';
import type { Logger } from '../lib/logger.js';

/**
 * WebSockets are passed on as bytes: the platform decides over the upgrade, sees every frame, ping and close as the client
 * sent it, and back-pressure reaches from one end to the other. Nothing of a connection is kept here.
 */
export interface Tunnels {
  /** Whether a request came to be upgraded. */
  wants(request: FastifyRequest): boolean;
  /** Asks the platform for the upgrade and joins both ends; a refusal is answered as it came. */
  open(request: FastifyRequest, reply: FastifyReply, headers: Record<string, string>): void;
  /** Cuts what is open. */
  close(): void;
}

export interface TunnelOptions {
  platformUrl: string;
  log: Logger;
}

/** Of the handshake itself. Extensions are left out: nothing is compressed. */
const HANDSHAKE = ['sec-websocket-key', 'sec-websocket-version', 'sec-websocket-protocol'] as const;
/** Of the platform's answer; the rest is what HTTP makes of it. */
const ACCEPTANCE = ['sec-websocket-accept', 'sec-websocket-protocol'] as const;
const CONNECTION_HEADERS = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade']);
const HANDSHAKE_TIMEOUT_MS = 10_000;
const WEBSOCKET = /^websocket$/i;

/** Only GET of what isn't `/v1` becomes a WebSocket; elsewhere an upgrade is asked for in vain. */
export function mayUpgrade({ method, url = '', headers }: IncomingMessage): boolean {
  return method === 'GET' && WEBSOCKET.test(headers.upgrade ?? '') && !/^\/v1(?:[/?#]|$)/.test(url);
}

/** Takes upgrades of this server and sends them through its hooks and routes like every request. */
export function createTunnels(app: FastifyInstance, { platformUrl, log }: TunnelOptions): Tunnels {
  const platform = new URL(platformUrl);
  const ask = platform.protocol === 'https:' ? httpsRequest : httpRequest;
  const upgrades = new WeakMap<IncomingMessage, { socket: Duplex; head: Buffer }>();
  const open = new Set<Duplex>();

  app.server.on('upgrade', (raw: IncomingMessage, socket: Duplex, head: Buffer) => {
    const response = new ServerResponse(raw);
    // Node has let go of the socket: without a listener its error would end the process.
    socket.on('error', () => socket.destroy());
    // A refusal of ours closes; after the upgrade nobody answers on it any more.
    response.on('finish', () => socket.end());
    response.assignSocket(socket as never);
    response.setHeader('connection', 'close');
    upgrades.set(raw, { socket, head });
    app.routing(raw, response);
  });

  const join = (client: Duplex, server: Duplex): void => {
    open.add(client);
    const end = (): void => {
      open.delete(client);
      client.destroy();
      server.destroy();
    };
    pipeline(client, server, end);
    pipeline(server, client, end);
  };

  return {
    wants: (request) => upgrades.has(request.raw),

    open(request, reply, headers) {
      const { socket, head } = upgrades.get(request.raw)!;
      reply.hijack();
      const unavailable = (error: Error): void => {
        log.warn({ err: error }, 'the platform did not upgrade');
        if (socket.destroyed) return;
        const body = JSON.stringify(errorBody('platform_unavailable'));
        writeHead(socket, '502 Bad Gateway', {
          'content-type': 'application/json; charset=utf-8',
          connection: 'close',
        });
        socket.end(body);
      };
      const upstream = ask({
        host: platform.hostname,
        port: platform.port,
        path: request.raw.url,
        headers: { ...handshakeOf(request.raw), ...headers, connection: 'upgrade', upgrade: 'websocket' },
        agent: false,
        timeout: HANDSHAKE_TIMEOUT_MS,
      });
      upstream.on('timeout', () => upstream.destroy(new Error('no answer to an upgrade')));
      upstream.on('error', unavailable);
      upstream.on('response', (answer) => {
        writeHead(socket, `${answer.statusCode} ${answer.statusMessage}`, plain(answer));
        pipeline(answer, socket, () => socket.destroy());
      });
      upstream.on('upgrade', (answer, server, serverHead) => {
        upstream.off('error', unavailable);
        server.setTimeout(0);
        (socket as { setTimeout?(ms: number): void }).setTimeout?.(0);
        const accepted = ACCEPTANCE.flatMap((name) =>
          answer.headers[name] ? [[name, answer.headers[name]]] : [],
        );
        writeHead(socket, '101 Switching Protocols', {
          connection: 'upgrade',
          upgrade: 'websocket',
          ...Object.fromEntries(accepted),
        });
        if (head.length > 0) server.write(head);
        if (serverHead.length > 0) socket.write(serverHead);
        join(socket, server);
      });
      socket.once('close', () => upstream.destroy());
      upstream.end();
    },

    close() {
      for (const socket of open) socket.destroy();
    },
  };
}

/** Ends with the connection, so that nothing need be said of its length. */
function plain({ headers }: IncomingMessage): Record<string, string | string[] | undefined> {
  const kept = Object.entries(headers).filter(([name]) => !CONNECTION_HEADERS.has(name));
  return { ...Object.fromEntries(kept), connection: 'close' };
}

/** Values were read by Node's parser, which takes no line break in them. */
function writeHead(
  socket: Duplex,
  status: string,
  headers: Record<string, string | string[] | undefined>,
): void {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one) => `${name}: ${one}\r\n`),
  );
  socket.write(`HTTP/1.1 ${status}\r\n${lines.join('')}\r\n`);
}

function handshakeOf({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    HANDSHAKE.flatMap((name) => (headers[name] ? [[name, headers[name] as string]] : [])),
  );
}

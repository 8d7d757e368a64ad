import { type IncomingHttpHeaders, type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Dispatcher, Pool } from 'undici';
import { patientConnector } from '../../lib/upstream/patient-connector.js';
import { type PlatformAnswer, UpgradeHandler } from './upgrade-handler.js';

/** Time to send the last bytes to one side after the other has closed. */
const LINGER_MS = 1_000;
const KEEP_ALIVE_MS = 30_000;

/** Client headers that are passed on: credentials, the page that asks, and the handshake. */
const REQUEST_HEADERS = [
  'cookie',
  'origin',
  'sec-fetch-site',
  'authorization',
  'user-agent',
  'sec-websocket-key',
  'sec-websocket-version',
  'sec-websocket-protocol',
] as const;
const RESPONSE_HEADERS = ['sec-websocket-accept', 'sec-websocket-protocol'] as const;

export interface UpgradeOptions {
  /** Platforms, which differ in host and port only. */
  addresses: readonly URL[];
  /** How long to try again while all of them refuse connections. */
  patienceMs: number;
  /** The target of a request to the platform. */
  targetOf(url: string): string;
  /** Time to connect to the platform, and then for its answer. */
  timeoutMs: number;
  /** Headers that tell the platform where a request comes from. */
  forwarded(request: FastifyRequest): Record<string, string>;
  /** Sends the platform's answer when it is not 101. */
  refused(reply: FastifyReply, answer: PlatformAnswer): void;
  /** Called when the platform has granted the upgrade. */
  granted(request: FastifyRequest): void;
  /** Answers a client whose request didn't reach the platform. */
  failed(reply: FastifyReply, error: Error): void;
}

export interface Upgrades {
  /** Whether a request asks for an upgrade. */
  isUpgrade(request: FastifyRequest): boolean;
  /** Passes an upgrade request to the platform. */
  pass(request: FastifyRequest, reply: FastifyReply): void;
  /** Cuts all upgraded connections. */
  close(): void;
}

/**
 * Routes an upgrade like every other request, and joins its connection to the platform's once the platform has granted it. Until
 * then it gets ordinary responses: 404 for an unknown path, the platform's refusal of a foreign page, 502 during an outage.
 */
export function acceptUpgrades(app: FastifyInstance, options: UpgradeOptions): Upgrades {
  const waiting = new WeakMap<IncomingMessage, Socket>();
  const open = new Set<Socket>();
  // In addition to the connections of other requests: each upgrade occupies one.
  const { addresses, patienceMs, timeoutMs } = options;
  const platform = new Pool(addresses[0]!.origin, {
    connect: patientConnector({ addresses, patienceMs, timeout: timeoutMs, allowH2: false }),
    headersTimeout: timeoutMs,
  });
  app.addHook('onClose', () => platform.destroy());
  app.server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    socket.on('error', () => undefined);
    // Bytes after an upgrade and before its response could be read as another client's request. After a request that is
    // still being answered, the connection can't be handed over.
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
    isUpgrade: (request) => waiting.has(request.raw),
    pass(request, reply) {
      try {
        passOn(request, reply, waiting.get(request.raw)!, options, { platform, open });
      } catch (error) {
        reply.send(error);
      }
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
  { platform, open }: { platform: Dispatcher; open: Set<Socket> },
): void {
  const path = options.targetOf(request.url);
  // A client that sends data before the answer isn't a WebSocket client; one that ends the connection has left.
  const early = (): void => void client.destroy();
  client.on('data', early).on('end', early);
  const answered = (): void => void client.off('data', early).off('end', early);
  const handler = new UpgradeHandler({
    granted(headers, socket) {
      reply.hijack();
      reply.raw.detachSocket(client);
      answered();
      options.granted(request);
      client.write(grant(headers));
      join(client, socket);
      open.add(client);
      client.once('close', () => open.delete(client));
    },
    refused(answer) {
      answered();
      options.refused(reply, answer);
    },
    failed(error) {
      answered();
      if (!reply.sent && !client.destroyed) options.failed(reply, error);
    },
  });
  client.once('close', () => handler.abandon());
  platform.dispatch(
    {
      method: 'GET',
      path,
      upgrade: 'websocket',
      headers: upgradeHeaders(request, options.forwarded(request)),
    },
    handler,
  );
}

function upgradeHeaders({ raw: { headers } }: FastifyRequest, forwarded: Record<string, string>) {
  const copied = REQUEST_HEADERS.flatMap((name) =>
    headers[name] === undefined ? [] : [[name, headers[name]]],
  );
  return { ...(Object.fromEntries(copied) as Record<string, string>), ...forwarded };
}

/** The 101 response, after which the connection no longer speaks HTTP. */
function grant(headers: IncomingHttpHeaders): string {
  const lines = RESPONSE_HEADERS.flatMap((name) =>
    headers[name] === undefined ? [] : [`${name}: ${headers[name]}`],
  );
  return [
    'HTTP/1.1 101 Switching Protocols',
    'upgrade: websocket',
    'connection: Upgrade',
    ...lines,
    '\r\n',
  ].join('\r\n');
}

/** Pipes both directions with back-pressure; when one side ends, the other does too. */
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
    // A side that stops reading would keep the connection open forever.
    from.once('close', () => setTimeout(() => to.destroy(), LINGER_MS).unref());
  }
}

import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { checkRegularly, type RequestBounds } from '../../lib/cut-connections.js';
import { LINK_GRANTED, LINK_PATH, LINK_PROTOCOL } from '../../lib/link/handshake.js';
import type { Logger } from '../../lib/logger.js';
import type { Access } from '../access.js';
import type { InferenceDeps } from '../take-call.js';
import { type LinkBounds, ServedLink } from './served-link.js';

export interface Links {
  /** Whether a connection has become a link. */
  has(socket: Socket): boolean;
  /** Takes no more calls; each edge ends its link after the last. */
  drain(): void;
  destroy(): void;
}

export interface LinksDeps {
  inference: InferenceDeps;
  access: Access;
  bounds: LinkBounds & Pick<RequestBounds, 'checkIntervalMs'>;
  log: Logger;
}

/** An edge has one, and a second while the first ends. */
const MAX_LINKS = 256;
const REFUSED = 'HTTP/1.1 401 Unauthorized\r\nconnection: close\r\ncontent-length: 0\r\n\r\n';
const TOO_MANY = 'HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: 0\r\n\r\n';
/** For an edge that has lost its network; what is under way is watched by `cutConnections`. */
const KEEP_ALIVE_MS = 60_000;

/** Whether a request asks for a link: of any other upgrade nothing is known here. */
export const asksForLink = ({ method, url, headers }: IncomingMessage): boolean =>
  method === 'GET' && url === LINK_PATH && headers.upgrade === LINK_PROTOCOL;

/** Lets edges open links on the port that serves HTTP, with the master key. Each call on one brings its own key too. */
export function acceptLinks(server: Server, { inference, access, bounds, log }: LinksDeps): Links {
  const links = new Map<Socket, ServedLink>();
  let draining = false;
  server.on('upgrade', (request: IncomingMessage, socket: Socket, first: Buffer) => {
    socket.on('error', () => socket.destroy());
    const isKnown = access.isMaster(request.headers.authorization);
    if (!isKnown || draining || links.size >= MAX_LINKS) {
      socket.end(isKnown ? TOO_MANY : REFUSED);
      socket.resume();
      return;
    }
    socket.setNoDelay(true);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    socket.write(LINK_GRANTED);
    const onFault = (error: Error): void => log.warn({ fault: error.message }, 'a link was cut');
    const onFailure = (error: unknown): void => log.error({ error }, 'a call over a link failed');
    const link = new ServedLink(socket, { inference, access, onFault, onFailure });
    links.set(socket, link);
    socket.once('close', () => links.delete(socket));
    if (first.length > 0) link.read(first);
  });
  checkRegularly(server, bounds.checkIntervalMs, (suspendedMs) => {
    for (const link of links.values()) link.cutLate(bounds, suspendedMs);
  });

  inference.metrics.links(() => links.size);

  return {
    has: (socket) => links.has(socket),
    drain() {
      draining = true;
      for (const link of links.values()) link.drain();
    },
    destroy() {
      for (const link of links.values()) link.destroy();
    },
  };
}

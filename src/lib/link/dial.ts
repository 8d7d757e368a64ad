import type { Socket } from 'node:net';
import { type Destination, openSocket } from '../upstream/socket.js';
import { isFailure, isGranted, linkRequest } from './handshake.js';

/** Who asked for a link. */
export interface DialEvents {
  /** It is granted. What the socket reads is given to the function that is returned. */
  granted(socket: Socket): (bytes: Buffer) => void;
  /** The upstream speaks HTTP and no link. */
  refused(): void;
  /** There was no answer, or one that says nothing of links. */
  failed(): void;
}

export interface DialOptions {
  destination: Destination;
  path: string;
  /** As a `Host` header has it. */
  host: string;
  masterKey: string;
  timeoutMs: number;
}

const MAX_HEAD_BYTES = 16 * 1024;
const HEAD_END = '\r\n\r\n';

/** Asks an upstream for a link, over a connection of its own. Exactly one of the events is called, later. Returns what gives it up. */
export function dial(options: DialOptions, events: DialEvents): () => void {
  let take: ((bytes: Buffer) => void) | undefined;
  let head = '';
  let over = false;
  const end = (tell: () => void): void => {
    if (over) return;
    over = true;
    clearTimeout(limit);
    socket.destroy();
    tell();
  };
  const answered = (bytes: Buffer): void => {
    head += bytes.toString('latin1');
    const at = head.indexOf(HEAD_END);
    if (at === -1 && head.length < MAX_HEAD_BYTES) return;
    if (at === -1 || !isGranted(head.slice(0, at + 2))) {
      end(isFailure(head) ? events.failed : events.refused);
      return;
    }
    over = true;
    clearTimeout(limit);
    const rest = Buffer.from(head.slice(at + HEAD_END.length), 'latin1');
    take = events.granted(socket);
    if (rest.length > 0) take(rest);
  };
  const socket = openSocket(options.destination, {
    opened: () => socket.write(linkRequest(options.path, options.host, options.masterKey), 'latin1'),
    read: (bytes) => {
      if (take) take(bytes);
      else if (!over) answered(bytes);
    },
  });
  const limit = setTimeout(() => end(events.failed), options.timeoutMs).unref();
  socket.on('error', () => end(events.failed));
  socket.on('end', () => end(head === '' ? events.failed : events.refused));
  socket.on('close', () => end(events.failed));
  return () => end(() => undefined);
}

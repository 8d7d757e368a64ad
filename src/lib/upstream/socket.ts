import { connect, isIP, type Socket, type TcpSocketConnectOpts } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** Where connections lead. */
export interface Destination {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  /** Of the last TLS session there, which the next connection resumes: half a handshake. */
  session?: Buffer | undefined;
}

/** Where an `http:` or `https:` address leads. */
export function destinationOf(url: URL): Destination {
  const tls = url.protocol === 'https:';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return { host, port: Number(url.port) || (tls ? 443 : 80), tls };
}

/** What a socket tells of, beside its end. */
export interface SocketEvents {
  opened(): void;
  /** The bytes are the reader's until it returns. */
  read(bytes: Buffer): void;
}

/** One for all connections: what was read is taken from it before the next read begins. */
const READ_BUFFER = Buffer.alloc(64 * 1024);
const KEEP_ALIVE_PROBE_MS = 60_000;

/** Opens a connection, over TLS where the destination asks for it. */
export function openSocket(destination: Destination, events: SocketEvents): Socket {
  const { host, port } = destination;
  const options = {
    host,
    port,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS,
  };
  if (destination.tls) return openTls(destination, options, events);
  const callback = (length: number): boolean => {
    events.read(READ_BUFFER.subarray(0, length));
    return true;
  };
  const socket = connect({ ...options, onread: { buffer: READ_BUFFER, callback } });
  socket.on('connect', () => events.opened());
  return socket;
}

function openTls(destination: Destination, options: TcpSocketConnectOpts, events: SocketEvents): Socket {
  const { host, session } = destination;
  let isOpen = false;
  const socket = connectTls({
    ...options,
    session,
    servername: isIP(host) === 0 ? host : '',
    ALPNProtocols: ['http/1.1'],
  });
  socket.on('secureConnect', () => {
    isOpen = true;
    events.opened();
  });
  // Node tells it once the certificate has been checked: whoever resumes the session doesn't check it again.
  socket.on('session', (told) => {
    destination.session = told;
  });
  // The session may be what the server refuses.
  socket.on('error', () => {
    if (!isOpen) destination.session = undefined;
  });
  socket.on('data', (bytes: Buffer) => events.read(bytes));
  return socket;
}

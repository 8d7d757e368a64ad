import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { Socket } from 'node:net';

/** Inodes of the sockets that this process holds open, whatever it or the other end thinks of them. */
function ownInodes(): Set<string> {
  const inodes = readdirSync('/proc/self/fd').map((fd) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/self/fd/${fd}`))?.[1];
    } catch {
      // The descriptor of the folder itself, or closed in the same moment.
      return undefined;
    }
  });
  return new Set(inodes.filter((inode) => inode !== undefined));
}

const portOf = (address: string): number => Number.parseInt(address.split(':')[1] ?? '', 16);

/** Connections that this process holds open, as `local port:remote port`: what the system says, not what a client sees. */
function heldConnections(): Set<string> {
  const own = ownInodes();
  const rows = readFileSync('/proc/self/net/tcp', 'utf8').split('\n');
  const fields = rows.map((line) => line.trim().split(/\s+/));
  return new Set(
    fields
      .filter(([, , , , , , , , , inode = '']) => own.has(inode))
      .map(([, local = '', remote = '']) => `${portOf(local)}:${portOf(remote)}`),
  );
}

/**
 * The server's end of each client, once that is connected. Both ports belong to it: a port of one client may serve another
 * connection, to another server. A client that is closed no longer knows them.
 */
const ends = new WeakMap<Socket, string | undefined>();

/** Lets `serverEnds` find the other end of this client. Call it when the client is made. */
export function noteEnds(client: Socket): Socket {
  ends.set(client, undefined);
  client.once('connect', () => ends.set(client, `${client.remotePort}:${client.localPort}`));
  return client;
}

/** Of how many of these clients' connections this process still holds the server's end. */
export function serverEnds(clients: readonly Socket[]): number {
  const held = heldConnections();
  return clients.filter((client) => {
    if (!ends.has(client)) throw new Error('call noteEnds when the client is made');
    const end = ends.get(client);
    return end !== undefined && held.has(end);
  }).length;
}

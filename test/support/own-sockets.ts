import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { Socket } from 'node:net';

/** Inodes of the sockets that this process has open, by the system. */
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

/** Open connections of this process, as `local port:remote port`, by the system rather than a client. */
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
 * The server's end of each connected client. Identified by both ports, since a port of one client may serve another
 * connection to another server. A closed client no longer knows them.
 */
const ends = new WeakMap<Socket, string | undefined>();

/** Lets `serverEnds` find the other end of this client. Call it when the client is created. */
export function noteEnds(client: Socket): Socket {
  ends.set(client, undefined);
  client.once('connect', () => ends.set(client, `${client.remotePort}:${client.localPort}`));
  return client;
}

/** Number of these clients whose server end this process still has open. */
export function serverEnds(clients: readonly Socket[]): number {
  const held = heldConnections();
  return clients.filter((client) => {
    if (!ends.has(client)) throw new Error('call noteEnds when the client is made');
    const end = ends.get(client);
    return end !== undefined && held.has(end);
  }).length;
}

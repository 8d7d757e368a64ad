import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

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

/** Ports of the clients whose connection's other end this process holds: what the system says, not what a client sees. */
export function heldPorts(): Set<number> {
  const own = ownInodes();
  const rows = readFileSync('/proc/self/net/tcp', 'utf8').split('\n');
  const fields = rows.map((line) => line.trim().split(/\s+/));
  return new Set(
    fields
      .filter(([, , , , , , , , , inode = '']) => own.has(inode))
      .map(([, , remote = '']) => portOf(remote)),
  );
}

/** Of how many of these clients' connections this process still holds the server's end. */
export function serverEnds(clients: readonly { localPort?: number }[]): number {
  const held = heldPorts();
  return clients.filter(({ localPort }) => localPort !== undefined && held.has(localPort)).length;
}

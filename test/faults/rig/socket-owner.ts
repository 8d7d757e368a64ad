import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const ESTABLISHED = '01';

/** Which of the processes holds the end of a connection on 127.0.0.1 that has this local port. */
export function ownerOfPort(port: number, pids: readonly number[]): number | undefined {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
  const inode = rows.find(([, local, , state]) => local?.endsWith(wanted) && state === ESTABLISHED)?.[9];
  return inode === undefined ? undefined : pids.find((pid) => holds(pid, `socket:[${inode}]`));
}

function holds(pid: number, socket: string): boolean {
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).some((fd) => readsAs(`${folder}/${fd}`, socket));
  } catch {
    // The process has ended.
    return false;
  }
}

function readsAs(link: string, target: string): boolean {
  try {
    return readlinkSync(link) === target;
  } catch {
    // Closed in the same moment.
    return false;
  }
}

import { readFileSync, readlinkSync, renameSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isStillRunning, processStat } from '../lib/process-stat.js';

/** Identifies the process that owns a spool folder, even after its pid was reused. */
export interface Owner {
  /** Boot id of the kernel, or the host name on systems without boot ids. */
  machine: string;
  /** Pids are comparable within one namespace only: containers of one host share the boot id. */
  pidNamespace: string;
  pid: number;
  /** Clock ticks since boot at which the process started; empty where unknown. */
  startTime: string;
}

export const OWNER_FILE = 'owner.json';

const attempt = (read: () => string): string => {
  try {
    return read();
  } catch {
    return '';
  }
};

export function ownIdentity(): Owner {
  const bootId = attempt(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim());
  return {
    machine: bootId || `host:${hostname()}`,
    pidNamespace: attempt(() => readlinkSync('/proc/self/ns/pid')),
    pid: process.pid,
    startTime: processStat(process.pid)?.startTime ?? '',
  };
}

export function writeOwner(directory: string, owner: Owner): void {
  const draft = join(directory, `.${OWNER_FILE}`);
  writeFileSync(draft, JSON.stringify(owner), { mode: 0o600 });
  renameSync(draft, join(directory, OWNER_FILE));
}

/** Returns undefined for a text that no owner wrote. */
export function parseOwner(text: string): Owner | undefined {
  try {
    const value = JSON.parse(text) as Owner;
    return typeof value?.machine === 'string' && Number.isInteger(value.pid) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether the owner of a folder is gone for good, by the process table, so that a suspended process keeps its folder.
 * Undefined if the table doesn't cover it: on another machine, in another container, or from before a reboot.
 */
export function isGone(owner: Owner | undefined, self: Owner): boolean | undefined {
  if (owner?.machine !== self.machine || owner.pidNamespace !== self.pidNamespace) return undefined;
  return !isStillRunning(owner.pid, owner.startTime);
}

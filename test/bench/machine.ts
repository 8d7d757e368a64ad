import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { statFields } from '../../src/lib/process-stat.js';
import { childrenOf } from '../support/process-tree.js';

/** Clock ticks of /proc, per second: 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

/** The core of the target under test and those of everything else; undefined where processes can't be pinned. */
export interface Cores {
  target: string;
  rest: string;
}

/** Pins this process, and with it all children that aren't pinned themselves, to every core but the first. */
export function takeCores(): Cores | undefined {
  const count = cpus().length;
  if (count < 2 || spawnSync('taskset', ['--version']).error) return undefined;
  const rest = count === 2 ? '1' : `1-${count - 1}`;
  execFileSync('taskset', ['-a', '-p', '-c', rest, String(process.pid)], { stdio: 'ignore' });
  return { target: '0', rest };
}

export function machineLine(cores: Cores | undefined): string {
  const model = cpus()[0]?.model ?? 'unknown processor';
  const pinned = cores ? 'the target pinned to one core, everything else on the other(s)' : 'nothing pinned';
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} cores (${model}), ${memory} GiB, ${process.platform} ${process.arch}, Node ${process.version}; ${pinned}`;
}

/** Microseconds of CPU that processes have used, all of their threads and reaped children included. */
export function cpuMicros(pids: number[]): number {
  let ticks = 0;
  for (const pid of pids) {
    const fields = statFields(pid);
    for (const index of [11, 12, 13, 14]) ticks += Number(fields?.[index] ?? 0);
  }
  return (ticks / TICKS_PER_SECOND) * 1e6;
}

/** Resident kilobytes of processes. */
export function rssKilobytes(pids: number[]): number {
  let sum = 0;
  for (const pid of pids) {
    const match = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    sum += Number(match?.[1] ?? 0);
  }
  return sum;
}

/** A process and its direct children: nginx with its worker, PostgreSQL with its backends. */
export const family = (pid: number): number[] => [pid, ...childrenOf(pid)];

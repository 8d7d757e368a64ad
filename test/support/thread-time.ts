import { readFileSync } from 'node:fs';

/**
 * Milliseconds in which the main thread of a process had a processor. Collector and compiler threads don't count, because they
 * delay nobody. Only Linux shows this for other processes.
 */
export function threadTimeMs(pid: number = process.pid): number {
  if (process.platform === 'linux') {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1_000_000;
  }
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

import { readFileSync } from 'node:fs';
import { statFields } from '../../../../src/lib/process-stat.js';
import type { ProductProcess } from '../../../support/product-process.js';

/** Of /proc, in a second. */
const TICKS = 100;
const NS = 1e9;

interface Reading {
  cpu: number;
  waited: number;
}

/**
 * Measures processes from now on: the cores they use, and the share of time in which their main thread could run but had no
 * processor. That share is due to other work on the machine, and limits how reliable the figures are.
 */
export function startUse(processes: readonly ProductProcess[]): () => string {
  const began = performance.now();
  const before = processes.map(read);
  return () => {
    const seconds = (performance.now() - began) / 1_000;
    return processes
      .map((one, i) => {
        const { cpu, waited } = read(one);
        const cores = (cpu - before[i]!.cpu) / seconds;
        const kept = (waited - before[i]!.waited) / seconds;
        return `${one.name} ${cores.toFixed(2)} cores, kept waiting ${(100 * kept).toFixed(0)} %`;
      })
      .join('; ');
  };
}

function read(one: ProductProcess): Reading {
  const [user, system] = statFields(one.pid())!.slice(11, 13).map(Number);
  const [, waited] = readFileSync(`/proc/${one.pid()}/schedstat`, 'utf8').split(' ').map(Number);
  return { cpu: (user! + system!) / TICKS, waited: waited! / NS };
}

import cluster from 'node:cluster';
import { Socket } from 'node:net';
import { CounterLink } from '../inference/limits/machine/counter-link.js';

/** Beside the standard streams and the channel of the cluster. */
export const COUNTER_FD = 4;

/**
 * The line to the process that started this edge as one of several on a port, once that has said whether calls may be
 * admitted. Undefined for a lone edge.
 */
export async function counterLine(): Promise<CounterLink | undefined> {
  if (!cluster.isWorker) return undefined;
  const link = new CounterLink(new Socket({ fd: COUNTER_FD, readable: true, writable: true }));
  await link.ready;
  return link;
}

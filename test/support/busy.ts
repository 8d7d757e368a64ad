import { availableParallelism, loadavg } from 'node:os';

/** Processes that wait for a core while the suite runs on a machine of its own. */
const USUAL_PER_CORE = 3;

/** A limit of wall time, in milliseconds. On a machine that is busier than usual everything takes longer, and it grows. */
export const onBusyMachine = (ms: number): number =>
  ms * Math.max(1, loadavg()[0]! / (USUAL_PER_CORE * availableParallelism()));

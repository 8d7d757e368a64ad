import { availableParallelism, loadavg } from 'node:os';

/** Processes that wait for a core while the suite runs alone on a machine. */
const USUAL_PER_CORE = 3;

/** A limit of wall time in milliseconds, which grows on a machine that is busier than usual. */
export const onBusyMachine = (ms: number): number =>
  ms * Math.max(1, loadavg()[0]! / (USUAL_PER_CORE * availableParallelism()));

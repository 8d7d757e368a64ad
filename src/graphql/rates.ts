import type { ServiceContext } from '../context.js';

/** How a request counts toward its caller's rate. */
export type RateClass = 'read' | 'write' | 'heavy';

/** Takes units from the caller's rate. @throws AppError `rate_limit_exceeded` */
export type TakeRate = (context: ServiceContext, rateClass: RateClass, units: number) => void;

/** Cost that counts as one more read. */
const COST_PER_READ = 500;

/** Takes what an operation counts in addition to the one read of its request. */
export function takeOperation(
  take: TakeRate,
  context: ServiceContext,
  { cost, mutations }: { cost: number; mutations: number },
): void {
  const reads = Math.floor(cost / COST_PER_READ);
  if (mutations > 0) take(context, 'write', mutations);
  if (reads > 0) take(context, 'read', reads);
}

import type { ServiceContext } from '../context.js';

/** How a request counts towards what its caller may ask in a minute. */
export type RateClass = 'read' | 'write' | 'heavy';

/** Takes units from what the caller may ask in a minute. @throws AppError `rate_limit_exceeded` */
export type TakeRate = (context: ServiceContext, rateClass: RateClass, units: number) => void;

/** Cost of an operation that counts as one more read. */
const COST_PER_READ = 500;

/** What an operation takes beside the one read of its request. */
export function takeOperation(
  take: TakeRate,
  context: ServiceContext,
  { cost, mutations }: { cost: number; mutations: number },
): void {
  const reads = Math.floor(cost / COST_PER_READ);
  if (mutations > 0) take(context, 'write', mutations);
  if (reads > 0) take(context, 'read', reads);
}

import { knownUntil } from '../../freshness';
import { useTicking } from '../../ui/use-ticking';

/**
 * `useTicking` by the time up to which nodes are known: while nothing is heard from the server, their heartbeats may go on.
 */
export const useNodeTime = <Value extends string | number | boolean | null>(
  of: (knownMs: number) => Value,
): Value => useTicking((now) => of(knownUntil(now)));

import { knownUntil } from '../../freshness';
import { useTicking } from '../../ui/use-ticking';

/**
 * `useTicking` with the time up to which nodes are known: while the connection is lost, their heartbeats may go on.
 */
export const useNodeTime = <Value extends string | number | boolean | null>(
  of: (knownMs: number) => Value,
): Value => useTicking((now) => of(knownUntil(now)));

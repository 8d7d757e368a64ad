import type { ModelsQuery } from '../../../generated/graphql';
import { formatCount } from '../../ui/format';

export type Board = NonNullable<NonNullable<ModelsQuery['viewer']>['leaderboardMix']>;
export type Entry = Board['entries'][number];
/** A model of the catalog. */
export type Listed = NonNullable<ModelsQuery['models']>[number];

interface Band {
  fromOutputTokens: number;
  toOutputTokens?: number | null | undefined;
}

/** `up to 99 tokens`, `100 to 499 tokens`, `2,000 tokens or more`. */
export function lengthOf({ fromOutputTokens: from, toOutputTokens: to }: Band): string {
  if (typeof to !== 'number') return `${formatCount(from)} tokens or more`;
  return from === 0 ? `up to ${formatCount(to)} tokens` : `${formatCount(from)} to ${formatCount(to)} tokens`;
}

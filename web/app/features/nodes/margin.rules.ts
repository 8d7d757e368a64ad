import { formatMoney, parseMoney } from '../../../../src/lib/money';
import type { NodeMarginFragment } from '../../../generated/graphql';

/** Whether what a node costs is known. A node can't be registered without a cost, but with 0. */
export const hasCost = ({ hourlyCostUsd }: Pick<NodeMarginFragment, 'hourlyCostUsd'>): boolean =>
  parseMoney(hourlyCostUsd) > 0n;

/** All nodes together, exact. Cost and margin are those of nodes whose cost is known. */
export function totalsOf(nodes: readonly NodeMarginFragment[]) {
  const known = nodes.filter(hasCost);
  const sum = (amounts: readonly string[]): string =>
    formatMoney(amounts.reduce((total, amount) => total + parseMoney(amount), 0n));
  return {
    revenue: sum(nodes.map(({ revenueUsd }) => revenueUsd)),
    cost: sum(known.map(({ costUsd }) => costUsd)),
    margin: sum(known.map(({ marginUsd }) => marginUsd)),
    withoutCost: nodes.length - known.length,
  };
}

const byName = (a: NodeMarginFragment, b: NodeMarginFragment): number =>
  a.name.localeCompare(b.name, 'en', { numeric: true }) || (a.nodeId < b.nodeId ? -1 : 1);

/** By name, or as the server has them: the largest margin of an hour first. Without a cost there is none, so those come last. */
export function sorted(
  nodes: readonly NodeMarginFragment[],
  by: 'name' | undefined,
): readonly NodeMarginFragment[] {
  if (by === 'name') return nodes.toSorted(byName);
  return [...nodes.filter(hasCost), ...nodes.filter((node) => !hasCost(node))];
}

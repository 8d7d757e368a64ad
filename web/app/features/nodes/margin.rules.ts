import { formatMoney, parseMoney } from '../../../../src/lib/money';
import type { NodeMarginFragment } from '../../../generated/graphql';

/** Whether the cost of a node is known: an unknown cost is registered as 0. */
export const hasCost = ({ hourlyCostUsd }: Pick<NodeMarginFragment, 'hourlyCostUsd'>): boolean =>
  parseMoney(hourlyCostUsd) > 0n;

/** The exact sums over all nodes. Cost and margin only include nodes whose cost is known. */
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

/** Sorts by name, or in the server's order: the largest margin per hour first, nodes without a cost, and so without a margin, last. */
export function sorted(
  nodes: readonly NodeMarginFragment[],
  by: 'name' | undefined,
): readonly NodeMarginFragment[] {
  if (by === 'name') return nodes.toSorted(byName);
  return [...nodes.filter(hasCost), ...nodes.filter((node) => !hasCost(node))];
}

import { Link } from '@tanstack/react-router';
import type { NodeMarginFragment } from '../../../generated/graphql';
import { paths } from '../../paths';
import type { Column } from '../../ui/data-table';
import { formatCount } from '../../ui/format';
import { Unseen } from '../../ui/unseen';
import { hasCost } from './margin.rules';
import { precise } from './node-facts';
import classes from './nodes.module.css';
import type { MarginWindow } from './nodes-search';

/** The columns of the list of margins. */
export const marginColumns = (window: MarginWindow): readonly Column<NodeMarginFragment>[] => [
  {
    id: 'name',
    head: 'Node',
    whole: ({ name }) => name,
    cell: ({ nodeId, name }) => (
      <Link to={paths.node} params={{ nodeId }} search={{ tab: 'margin', window }}>
        {name}
      </Link>
    ),
  },
  {
    id: 'margin',
    head: 'Margin per hour',
    signed: true,
    usd: (node) => (hasCost(node) ? node.marginPerHourUsd : null),
    none: ({ nodeId, name }) => (
      <Link className={classes.why!} to={paths.node} params={{ nodeId }} search={{ tab: 'settings' }}>
        Set hourly cost<Unseen> of {name}</Unseen>
      </Link>
    ),
  },
  { id: 'revenue', head: 'Revenue', usd: ({ revenueUsd }) => revenueUsd },
  {
    id: 'cost',
    head: 'Cost per hour',
    usd: (node) => (hasCost(node) ? node.hourlyCostUsd : null),
    none: () => '–',
  },
  { id: 'breakEven', head: 'Break-even', figure: true, cell: (node) => <BreakEven node={node} /> },
  {
    id: 'average',
    head: 'Under way',
    figure: true,
    cell: underWay,
  },
  { id: 'requests', head: 'Calls', figure: true, cell: ({ requests }) => formatCount(requests) },
  { id: 'errors', head: 'Failed', figure: true, cell: ({ errors }) => formatCount(errors) },
];

/** The average number of concurrent calls; a small one is shown as such, not as 0. */
export const underWay = ({ averageConcurrency: calls, requests }: NodeMarginFragment): string =>
  calls === 0 && requests > 0 ? '< 0.001' : precise(calls);

/** The number of concurrent calls at which revenue covers cost, or why it is unknown. */
export function BreakEven({ node }: { node: NodeMarginFragment }) {
  if (!hasCost(node)) return '–';
  if (node.breakEvenConcurrency == null) return <span className={classes.why}>no revenue</span>;
  return precise(node.breakEvenConcurrency);
}

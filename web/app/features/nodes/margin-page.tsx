import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { type NodeMarginFragment, NodeMarginsDocument } from '../../../generated/graphql';
import { usePageQuery } from '../../graphql/use-page-query';
import { paths } from '../../paths';
import { Awaiting } from '../../ui/awaiting';
import { ButtonLink } from '../../ui/button-link';
import { DataTable } from '../../ui/data-table';
import { Empty } from '../../ui/empty';
import { LoadError } from '../../ui/load-error';
import { Money } from '../../ui/money';
import { PageHead } from '../../ui/page-head';
import { Section } from '../../ui/section';
import { Tile, Tiles } from '../../ui/tiles';
import { usePolled } from '../admin/use-polled';
import { LatencyInUse } from './latency-in-use';
import { sorted, totalsOf } from './margin.rules';
import { marginColumns } from './margin-columns';
import { MarginWindowChoice } from './margin-window';
import classes from './nodes.module.css';
import { DEFAULT_MARGIN_WINDOW, type MarginSearch, marginSearch } from './nodes-search';

const REFRESH_MS = 30_000;

/** `/admin/margin` */
export function MarginPage(): ReactNode {
  const { window = DEFAULT_MARGIN_WINDOW, by } = useSearch({
    from: '/signed-in/administrators/admin/margin',
  });
  const navigate = useNavigate({ from: paths.margin });
  const change = (next: { window?: number; by?: string }): void =>
    void navigate({
      search: (before): MarginSearch => marginSearch({ ...before, ...next }),
      replace: true,
      resetScroll: false,
    });
  const { data, error, awaiting, refresh } = usePageQuery({
    query: NodeMarginsDocument,
    variables: { windowDays: window, nodeId: null },
  });
  usePolled(refresh, REFRESH_MS);
  const nodes = data?.nodeEconomics ?? undefined;
  const columns = useMemo(() => marginColumns(window), [window]);
  return (
    <>
      <PageHead
        title="Margin"
        lead="What each node earned and cost, up to now. Revenue is what the ledger charged for the calls that it served."
        tools={<MarginWindowChoice value={window} onChange={(days) => change({ window: days })} />}
      />
      {error && <LoadError error={error} onRetry={refresh} />}
      {nodes?.length === 0 ? (
        <Empty action={<ButtonLink to={paths.newNode}>Register node</ButtonLink>}>
          No nodes yet. Register the machine behind a deployment to see what it earns and costs.
        </Empty>
      ) : (
        (nodes || !error) && (
          <>
            <Totals nodes={nodes} awaiting={awaiting} />
            <div className={classes.part}>
              <DataTable
                label="Margins of all nodes"
                columns={columns}
                rows={nodes && sorted(nodes, by)}
                keyOf={({ nodeId }) => nodeId}
                awaiting={awaiting}
                sort={{
                  ids: ['name', 'margin'],
                  by: by ?? 'margin',
                  descending: by !== 'name',
                  onChange: (id) => change({ by: id }),
                }}
                empty=""
              />
              <p className={classes.hint}>
                Break-even: calls that must be under way on average for the revenue to cover the cost, at the
                prices and latencies of the window. Every hour since its registration costs, whatever the
                node’s status: delete a node when you no longer pay for it.
              </p>
            </div>
            <Section title="Latency in use and in the benchmark">
              <LatencyInUse nodes={nodes} awaiting={awaiting} />
            </Section>
          </>
        )
      )}
    </>
  );
}

interface TotalsProps {
  nodes: readonly NodeMarginFragment[] | undefined;
  awaiting: boolean;
}

function Totals({ nodes, awaiting }: TotalsProps) {
  const totals = nodes && totalsOf(nodes);
  const without = totals?.withoutCost ?? 0;
  const note =
    without > 0 && (without === 1 ? '1 node has no cost set' : `${without} nodes have no cost set`);
  return (
    <div className={classes.figures}>
      <Awaiting awaiting={awaiting}>
        <Tiles roomy>
          <Tile label="Margin" note={note}>
            {totals && <Money usd={totals.margin} signed />}
          </Tile>
          <Tile label="Revenue">{totals && <Money usd={totals.revenue} />}</Tile>
          <Tile label="Cost" note={note}>
            {totals && <Money usd={totals.cost} />}
          </Tile>
        </Tiles>
      </Awaiting>
    </div>
  );
}

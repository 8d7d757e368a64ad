import { useNavigate, useSearch } from '@tanstack/react-router';
import { type NodeMarginFragment, NodeMarginsDocument } from '../../../generated/graphql';
import { usePageQuery } from '../../graphql/use-page-query';
import { paths } from '../../paths';
import { Awaiting } from '../../ui/awaiting';
import { ButtonLink } from '../../ui/button-link';
import { counted, formatCount } from '../../ui/format';
import { LoadError } from '../../ui/load-error';
import { Moment } from '../../ui/moment';
import { Money } from '../../ui/money';
import { Note } from '../../ui/note';
import { Section } from '../../ui/section';
import { Tile, Tiles } from '../../ui/tiles';
import { usePolled } from '../admin/use-polled';
import { LatencyInUse } from './latency-in-use';
import { hasCost } from './margin.rules';
import { BreakEven, underWay } from './margin-columns';
import { MarginWindowChoice } from './margin-window';
import { precise } from './node-facts';
import classes from './nodes.module.css';
import { DEFAULT_MARGIN_WINDOW } from './nodes-search';

const REFRESH_MS = 30_000;

/** Revenue, cost and speed of a node in a window. */
export function NodeMargin({ nodeId }: { nodeId: string }) {
  const { window = DEFAULT_MARGIN_WINDOW } = useSearch({
    from: '/signed-in/administrators/admin/nodes/$nodeId',
  });
  const navigate = useNavigate({ from: paths.node });
  const { data, error, awaiting, refresh } = usePageQuery({
    query: NodeMarginsDocument,
    variables: { windowDays: window, nodeId },
  });
  usePolled(refresh, REFRESH_MS);
  const node = data?.nodeEconomics?.[0];
  return (
    <>
      <div className={classes.part}>
        <div className={classes.head}>
          <h2>Margin</h2>
          <MarginWindowChoice
            value={window}
            onChange={(days) =>
              void navigate({ search: (before) => ({ ...before, window: days }), replace: true })
            }
          />
        </div>
        {error && <LoadError error={error} onRetry={refresh} />}
        {node && !hasCost(node) && (
          <Note
            tone="plain"
            action={
              <ButtonLink
                size="xs"
                variant="default"
                to={paths.node}
                params={{ nodeId }}
                search={{ tab: 'settings' }}
              >
                Set hourly cost
              </ButtonLink>
            }
          >
            No hourly cost is set. Set one to see the margin.
          </Note>
        )}
        {node && <Uncounted models={node.models} />}
        {(node || !error) && (
          <Awaiting awaiting={awaiting}>
            <Figures node={node} />
          </Awaiting>
        )}
      </div>
      {(node || !error) && (
        <Section title="Latency in use and in the benchmark">
          <LatencyInUse nodes={node && [node]} awaiting={awaiting} single />
        </Section>
      )}
    </>
  );
}

/** The calls that the node answered without being paid. */
function Uncounted({ models }: Pick<NodeMarginFragment, 'models'>) {
  const free = models.filter(({ uncounted }) => uncounted > 0);
  if (free.length === 0) return null;
  const answers = free.map((model) => `${model.modelPublicName} (${counted(model.uncounted, 'answer')})`);
  return (
    <Note tone="warn">
      The node reported zero tokens for answers, so nothing was charged for them: {answers.join(', ')}. Update
      its server, or use one that counts tokens.
    </Note>
  );
}

function Figures({ node }: { node: NodeMarginFragment | undefined }) {
  const known = node && hasCost(node) ? node : undefined;
  return (
    <>
      <Tiles roomy>
        <Tile
          label="Margin per hour"
          note={
            known && (
              <>
                in all <Money usd={known.marginUsd} signed />
              </>
            )
          }
        >
          {node && (known ? <Money usd={known.marginPerHourUsd} signed /> : '–')}
        </Tile>
        <Tile
          label="Revenue"
          note={
            node &&
            (node.requests === 0
              ? 'no calls'
              : `${counted(node.requests, 'call')}, ${formatCount(node.errors)} failed`)
          }
        >
          {node && <Money usd={node.revenueUsd} />}
        </Tile>
        <Tile
          label="Cost"
          note={
            known && (
              <>
                <Money usd={known.hourlyCostUsd} /> × {precise(known.hours)} hours
              </>
            )
          }
        >
          {node && (known ? <Money usd={known.costUsd} /> : '–')}
        </Tile>
        <Tile label="Break-even, calls at once" note={node && `${underWay(node)} under way on average`}>
          {node && <BreakEven node={node} />}
        </Tile>
      </Tiles>
      {node && (
        <p className={classes.hint}>
          Since <Moment at={node.since} />. Revenue is what the ledger charged for the calls that the node
          served. Cost is the present hourly cost of all hours since its registration, whatever its status:
          delete a node when you no longer pay for it.
        </p>
      )}
    </>
  );
}

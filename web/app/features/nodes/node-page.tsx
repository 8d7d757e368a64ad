import { Link, useParams, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { NodeSettingsDocument } from '../../../generated/graphql';
import { usePageQuery } from '../../graphql/use-page-query';
import { paths } from '../../paths';
import { LoadError } from '../../ui/load-error';
import { Moment } from '../../ui/moment';
import { Money } from '../../ui/money';
import { Note } from '../../ui/note';
import { PageHead } from '../../ui/page-head';
import { PageTabs } from '../../ui/page-tabs';
import { Tile, Tiles } from '../../ui/tiles';
import { Waiting } from '../../ui/waiting';
import { AgentCommand } from './agent-command';
import { type LiveNode, useLiveNodes } from './live-nodes';
import { NodeBenchmarks } from './node-benchmarks';
import { CallsInFlight, gigabytes, HeartbeatAge, percent, StateOfNode } from './node-facts';
import { NodeLoad } from './node-load';
import { NodeMargin } from './node-margin';
import { NodeSettings } from './node-settings';
import { DeleteNode, StatusButton } from './node-status';
import classes from './nodes.module.css';
import { NODE_TABS, type NodeTab } from './nodes-search';

/** Until the server has answered how long a node may be silent. */
const NEVER = Number.POSITIVE_INFINITY;

/** `/admin/nodes/{id}` */
export function NodePage(): ReactNode {
  const { nodeId } = useParams({ from: '/signed-in/administrators/admin/nodes/$nodeId' });
  // The React key resets all state for another node: the data of this one would say that the other doesn't exist.
  return <NodeById key={nodeId} nodeId={nodeId} />;
}

function NodeById({ nodeId }: { nodeId: string }) {
  const { tab } = useSearch({ from: '/signed-in/administrators/admin/nodes/$nodeId' });
  const { nodes, error, again } = useLiveNodes(nodeId);
  const settings = usePageQuery({ query: NodeSettingsDocument, variables: {} });
  const { staleAfterSeconds = NEVER, acceptsHeartbeats = true } = settings.data?.gpuNodeSettings ?? {};
  const node = nodes?.get(nodeId);
  return (
    <>
      <Link to={paths.nodes} search={{}} className={classes.back}>
        ← Nodes
      </Link>
      {error && !nodes && <PageHead title="Node" />}
      {error && <LoadError error={error} onRetry={again} />}
      {settings.error && <LoadError error={settings.error} onRetry={settings.refresh} />}
      {!nodes && !error && <Waiting width={240} height={32} />}
      {nodes && !node && (
        <PageHead title="Node not found" lead="It was deleted, or the URL is wrong. Its benchmarks stay." />
      )}
      {node && (
        <>
          <Head node={node} staleAfterSeconds={staleAfterSeconds} />
          <Tabs node={node} tab={tab ?? firstTab(node)} />
          <Tab
            node={node}
            tab={tab ?? firstTab(node)}
            staleAfterSeconds={staleAfterSeconds}
            publicBaseUrl={settings.data?.installation?.publicBaseUrl ?? location.origin}
            acceptsHeartbeats={acceptsHeartbeats}
          />
        </>
      )}
    </>
  );
}

const firstTab = ({ heardAtMs }: LiveNode): NodeTab => (heardAtMs === null ? 'agent' : 'load');

function Head({ node, staleAfterSeconds }: { node: LiveNode; staleAfterSeconds: number }) {
  const { gpuUtilization, memoryUsedGb, requestsRunning, requestsWaiting, loadedModels } = node.readings;
  return (
    <>
      <PageHead
        title={node.name}
        lead={
          <>
            {node.gpuType} at {node.provider}, {node.region}, <Money usd={node.hourlyCostUsd} /> per hour.{' '}
            <span className={classes.address}>{node.endpointUrl}</span>
          </>
        }
        tools={<Actions node={node} />}
      />
      <div className={classes.figures}>
        <Tiles>
          <Tile
            label="State"
            note={
              <>
                Last heartbeat: <HeartbeatAge node={node} staleAfterSeconds={staleAfterSeconds} />
              </>
            }
          >
            <StateOfNode node={node} staleAfterSeconds={staleAfterSeconds} brief />
          </Tile>
          <Tile
            label="Calls in flight"
            note={
              node.drainedAt != null && (
                <>
                  Drained <Moment at={node.drainedAt} ago />: it can be stopped
                </>
              )
            }
          >
            <CallsInFlight node={node} />
          </Tile>
          <Tile label="GPU" note={memoryUsedGb && `${gigabytes(memoryUsedGb.value)} of memory used`}>
            {gpuUtilization ? percent(gpuUtilization.value) : '–'}
          </Tile>
          <Tile label="Requests running" note={requestsWaiting && `${requestsWaiting.value} waiting`}>
            {requestsRunning?.value ?? '–'}
          </Tile>
        </Tiles>
      </div>
      {loadedModels && (
        <p className={classes.models}>
          Loaded models: <span className={classes.address}>{loadedModels.value.join(', ') || 'none'}</span>
        </p>
      )}
      {node.deployments === 0 && (
        <div className={classes.note}>
          <Note tone="warn">
            No deployment uses this address, so the node gets no traffic. In the routing file, give a
            deployment an <code>api_base</code> with this host and port, or correct the address of the node.
          </Note>
        </div>
      )}
      {node.keptInRouting && node.status === 'ACTIVE' && (
        <div className={classes.note}>
          <Note tone="warn">
            Half of the nodes went silent at once, so routing keeps using them: the network or the gateway is
            more likely at fault than all of them.
          </Note>
        </div>
      )}
    </>
  );
}

function Actions({ node }: { node: LiveNode }) {
  return (
    <div className={classes.tools}>
      {node.status !== 'ACTIVE' && <StatusButton node={node} to="ACTIVE" />}
      {node.status === 'ACTIVE' && <StatusButton node={node} to="DRAINING" />}
      {node.status !== 'OFFLINE' && <StatusButton node={node} to="OFFLINE" />}
      <DeleteNode node={node} />
    </div>
  );
}

function Tabs({ node, tab }: { node: LiveNode; tab: NodeTab }) {
  return (
    <PageTabs label="About this node">
      {NODE_TABS.map(({ id, label }) => (
        <Link
          key={id}
          to={paths.node}
          params={{ nodeId: node.id }}
          search={{ tab: id }}
          activeProps={{}}
          aria-current={id === tab ? 'page' : undefined}
          replace
        >
          {label}
        </Link>
      ))}
      <Link to={paths.audit} search={{ subject: node.id }} activeProps={{}}>
        Audit log
      </Link>
    </PageTabs>
  );
}

interface TabProps {
  node: LiveNode;
  tab: NodeTab;
  staleAfterSeconds: number;
  publicBaseUrl: string;
  acceptsHeartbeats: boolean;
}

function Tab({ node, tab, ...ofAgent }: TabProps) {
  if (tab === 'benchmarks') return <NodeBenchmarks nodeId={node.id} />;
  if (tab === 'margin') return <NodeMargin nodeId={node.id} />;
  if (tab === 'settings') return <NodeSettings node={node} />;
  if (tab === 'load') return <NodeLoad node={node} />;
  return <AgentCommand node={node} {...ofAgent} />;
}

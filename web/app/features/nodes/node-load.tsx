import { Button } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { NodeHeartbeatsDocument, type NodeHeartbeatsQuery } from '../../../generated/graphql';
import { usePageQuery } from '../../graphql/use-page-query';
import { type Column, DataTable } from '../../ui/data-table';
import { formatCount, formatRate } from '../../ui/format';
import { LineChart } from '../../ui/line-chart';
import { LoadError } from '../../ui/load-error';
import { Moment } from '../../ui/moment';
import { Waiting } from '../../ui/waiting';
import type { LiveNode } from './live-nodes';
import { gigabytes, percent } from './node-facts';
import { shortSpan } from './node-state.rules';
import classes from './nodes.module.css';
import { useNodeTime } from './use-node-time';

type Heartbeat = NonNullable<NodeHeartbeatsQuery['gpuNodeHeartbeats']>[number];
type Metric = Exclude<keyof Heartbeat, 'receivedAt' | '__typename'>;

const MS = 1_000;
/** The history is refreshed this often at most, however often heartbeats come. */
const REFRESH_MS = 5_000;

const METRICS: readonly { id: Metric; label: string; most?: number; format(value: number): string }[] = [
  { id: 'gpuUtilization', label: 'GPU utilization', most: 100, format: percent },
  { id: 'memoryUsedGb', label: 'Memory used', format: gigabytes },
  { id: 'requestsRunning', label: 'Requests running', format: formatCount },
  { id: 'requestsWaiting', label: 'Requests waiting', format: formatCount },
  { id: 'kvCacheUsage', label: 'KV cache used', most: 1, format: formatRate },
];

const columns: readonly Column<Heartbeat>[] = [
  { id: 'at', head: 'Time', cell: ({ receivedAt }) => <Moment at={receivedAt} /> },
  ...METRICS.map(({ id, label, format }) => ({
    id,
    head: label,
    figure: true,
    cell: (heartbeat: Heartbeat) => {
      const value = heartbeat[id];
      return value == null ? '–' : format(value);
    },
  })),
];

/** The metrics of heartbeats: the latest value and the last hours. */
export function NodeLoad({ node }: { node: LiveNode }) {
  const [asTable, setAsTable] = useState(false);
  const { data, error, refresh } = usePageQuery({
    query: NodeHeartbeatsDocument,
    variables: { id: node.id },
  });
  useRefreshOn(node.lastHeartbeatAt ?? '', refresh);
  const heartbeats = data?.gpuNodeHeartbeats;
  return (
    <div className={classes.part}>
      <div className={classes.head}>
        <h2>Heartbeats</h2>
        <Button variant="default" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
          {asTable ? 'Show as charts' : 'Show as table'}
        </Button>
      </div>
      {error && <LoadError error={error} onRetry={refresh} />}
      {!heartbeats && !error && <Waiting height={200} />}
      {heartbeats?.length === 0 && (
        <p className={classes.hint}>
          No metrics in the last 24 hours. The agent sends what it can read: GPU and memory by nvidia-smi,
          requests and KV cache from the metrics of vLLM or SGLang.
        </p>
      )}
      {heartbeats && heartbeats.length > 0 && asTable && (
        <DataTable
          label="Heartbeats"
          columns={columns}
          rows={heartbeats}
          keyOf={({ receivedAt }) => receivedAt}
          empty=""
        />
      )}
      {heartbeats && heartbeats.length > 0 && !asTable && <Charts node={node} heartbeats={heartbeats} />}
    </div>
  );
}

/** Refreshes the history when it has grown, at most every few seconds. */
function useRefreshOn(mark: string, refresh: () => void): void {
  const latest = useRef(refresh);
  latest.current = refresh;
  const read = useRef({ mark, atMs: 0 });
  useEffect(() => {
    if (read.current.mark === mark) return;
    const wait = Math.max(0, read.current.atMs + REFRESH_MS - Date.now());
    const timer = setTimeout(() => {
      read.current = { mark, atMs: Date.now() };
      latest.current();
    }, wait);
    return () => clearTimeout(timer);
  }, [mark]);
}

function Charts({ node, heartbeats }: { node: LiveNode; heartbeats: readonly Heartbeat[] }) {
  const oldestFirst = heartbeats.toReversed();
  const fromMs = Date.parse(oldestFirst[0]!.receivedAt);
  const toMs = Date.parse(heartbeats[0]!.receivedAt);
  const drawn = METRICS.flatMap((metric) => {
    const readings = oldestFirst.flatMap(({ receivedAt, [metric.id]: value }) =>
      value == null ? [] : [{ atMs: Date.parse(receivedAt), value }],
    );
    return readings.length === 0 ? [] : [{ ...metric, readings }];
  });
  const span = Math.round((toMs - fromMs) / MS);
  return (
    <>
      <div className={classes.charts}>
        {drawn.map(({ id, label, readings, format, most }) => (
          <figure key={id} className={classes.chart}>
            <figcaption>
              <span>{label}</span>
              <span>
                <span className={classes.now}>{format(readings.at(-1)!.value)}</span>{' '}
                <Age node={node} metric={id} />
              </span>
            </figcaption>
            <LineChart
              label={label}
              readings={readings}
              fromMs={fromMs}
              toMs={toMs}
              format={format}
              {...(most !== undefined && { most })}
            />
          </figure>
        ))}
      </div>
      <p className={classes.hint}>
        {formatCount(heartbeats.length)} heartbeats{span > 0 && ` in ${shortSpan(span)}`}, of the last 24
        hours at most. A gap in a line is silence.
      </p>
    </>
  );
}

/** The age of a metric's latest value, which may be missing from later heartbeats. */
function Age({ node, metric }: { node: LiveNode; metric: Metric }) {
  const { heardAtMs, lastHeartbeatAt, readings } = node;
  const receivedAt = readings[metric]?.receivedAt;
  const age = useNodeTime((now) => {
    if (heardAtMs === null || !receivedAt || lastHeartbeatAt == null) return null;
    const behindMs = Date.parse(lastHeartbeatAt) - Date.parse(receivedAt);
    return Math.max(0, Math.floor((now - heardAtMs + behindMs) / MS));
  });
  return <span className={classes.muted}>{age === null ? '' : `${shortSpan(age)} ago`}</span>;
}

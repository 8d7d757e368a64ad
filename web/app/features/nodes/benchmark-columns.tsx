import type { BenchmarkRowFragment } from '../../../generated/graphql';
import type { Column } from '../../ui/data-table';
import { formatCount } from '../../ui/format';
import { Moment } from '../../ui/moment';
import { decimal } from './node-facts';
import classes from './nodes.module.css';

/** 912.4 ms */
export const ms = (value: number | null | undefined): string =>
  value == null ? '–' : `${decimal(value)} ms`;

/** The columns of every list of runs. */
export const benchmarkColumns: readonly Column<BenchmarkRowFragment>[] = [
  {
    id: 'model',
    head: 'Model',
    phone: 1,
    cell: ({ modelPublicName }) => <span className={classes.address}>{modelPublicName}</span>,
  },
  { id: 'at', head: 'Run', phone: 11, cell: ({ createdAt }) => <Moment at={createdAt} /> },
  {
    id: 'speed',
    head: 'Tokens/s',
    figure: true,
    phone: 2,
    cell: ({ tokensPerSecond }) => decimal(tokensPerSecond),
  },
  { id: 'p50', head: 'p50', figure: true, cell: ({ p50LatencyMs }) => ms(p50LatencyMs) },
  { id: 'p95', head: 'p95', figure: true, phone: 12, cell: ({ p95LatencyMs }) => ms(p95LatencyMs) },
  { id: 'ttft', head: 'TTFT p95', figure: true, cell: ({ ttftP95Ms }) => ms(ttftP95Ms) },
  {
    id: 'requests',
    head: 'Requests',
    figure: true,
    cell: ({ totalRequests }) => formatCount(totalRequests),
  },
  { id: 'parallel', head: 'Parallel', figure: true, cell: ({ concurrency }) => formatCount(concurrency) },
  { id: 'errors', head: 'Errors', figure: true, cell: ({ errors }) => formatCount(errors) },
  {
    id: 'goodput',
    head: 'Goodput',
    whole: ({ slo }) => slo ?? '',
    cell: ({ goodput, slo }) =>
      goodput == null ? (
        '–'
      ) : (
        <>
          {decimal(goodput)}/s <span className={classes.muted}>{slo}</span>
        </>
      ),
  },
];

import { use } from 'react';
import { type Column, DataTable } from '../../ui/data-table';
import { formatLatency, formatRate, shortDollars } from '../../ui/format';
import { SimulatedMark, SimulatedModels } from '../../ui/simulated';
import type { Entry } from './answer-lengths';
import classes from './models.module.css';

interface RankTableProps {
  entries: readonly Entry[] | undefined;
  /** Models of the account's plan. */
  allowed: readonly string[] | undefined;
}

/** Models in the order of the account's own mix. */
export function RankTable({ entries, allowed }: RankTableProps) {
  return (
    <DataTable
      label="Models ranked for your calls"
      columns={columnsFor(allowed)}
      rows={entries}
      awaitedRows={MODELS}
      keyOf={({ modelPublicName }) => modelPublicName}
      empty="No models."
    />
  );
}

/** Of the catalog. */
const MODELS = 6;

const aside = (text: string) => <span className={classes.aside}> {text}</span>;

/** The last of what stands beside a name. */
function OutOfPlan({ model }: { model: string }) {
  const isFirst = !use(SimulatedModels).includes(model);
  return <span className={classes.aside}>{isFirst ? ' ' : ', '}not in your plan</span>;
}

const columnsFor = (allowed: readonly string[] | undefined): readonly Column<Entry>[] => [
  {
    id: 'model',
    head: 'Model',
    phone: 1,
    cell: ({ modelPublicName: name }) => (
      <>
        <a href={`/leaderboard/${encodeURIComponent(name.replace(/^gateway\//, ''))}`}>{name}</a>
        <SimulatedMark model={name} />
        {allowed && !allowed.includes(name) && <OutOfPlan model={name} />}
      </>
    ),
  },
  {
    id: 'rank',
    head: 'Rank',
    figure: true,
    phone: 2,
    cell: ({ rank, rankTied }) => (
      <>
        <span className={classes.onPhone}>#</span>
        {rank ?? '–'}
        {rankTied && aside('shared')}
      </>
    ),
  },
  {
    id: 'score',
    head: 'Score',
    figure: true,
    cell: ({ rankingScore }) => (typeof rankingScore === 'number' ? rankingScore.toFixed(3) : '–'),
  },
  {
    id: 'price',
    head: 'Your price per 1M tokens',
    figure: true,
    phone: 11,
    // An average of two prices, not an amount that anybody pays.
    whole: ({ mixPricePerMillionUsd: usd }) => (typeof usd === 'string' ? `$${usd}` : ''),
    cell: ({ mixPricePerMillionUsd: usd }) => (
      <>
        {typeof usd === 'string' ? shortDollars(Number(usd)) : '–'}
        <span className={classes.onPhone}> per 1M tokens</span>
      </>
    ),
  },
  {
    id: 'latency',
    head: 'Latency for your lengths, p95',
    figure: true,
    phone: 12,
    cell: ({ mixP95LatencyMs: ms, mixCoverage }) => (
      <>
        <span className={classes.onPhone}>p95 </span>
        {typeof ms === 'number' ? formatLatency(ms) : '–'}
        {typeof ms === 'number' && mixCoverage < 1 && aside(`for ${formatRate(mixCoverage)} of them`)}
      </>
    ),
  },
];

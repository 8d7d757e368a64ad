import { type ReactNode, use } from 'react';
import { roundedDollars } from '../../../../src/lib/rounded-dollars';
import { type Column, DataTable } from '../../ui/data-table';
import { formatCount, formatLatency, formatRate } from '../../ui/format';
import { moneyText } from '../../ui/money-text';
import { SimulatedMark, SimulatedModels } from '../../ui/simulated';
import type { Entry, Listed } from './answer-lengths';
import classes from './models.module.css';

interface RankTableProps {
  entries: readonly Entry[] | undefined;
  /** With their prices. */
  models: readonly Listed[];
  /** Models of the account's plan. */
  allowed: readonly string[] | undefined;
}

interface RankedModel extends Entry {
  listed: Listed | undefined;
}

/** Models in the order of the account's own mix. */
export function RankTable({ entries, models, allowed }: RankTableProps) {
  const listed = new Map(models.map((model) => [model.modelPublicName, model]));
  return (
    <DataTable
      label="Models ranked for your calls"
      columns={columnsFor(allowed)}
      rows={entries?.map((entry) => ({ ...entry, listed: listed.get(entry.modelPublicName) }))}
      awaitedRows={MODELS}
      keyOf={({ modelPublicName }) => modelPublicName}
      empty="No models."
    />
  );
}

/** Models of the catalog. */
const MODELS = 6;

const aside = (text: string) => <span className={classes.aside}> {text}</span>;

/** The last note beside a model's name. */
function OutOfPlan({ model }: { model: string }) {
  const isFirst = !use(SimulatedModels).includes(model);
  return <span className={classes.aside}>{isFirst ? ' ' : ', '}not in your plan</span>;
}

/** A figure, or a dash without one; on a phone, `instead`, which has its own column elsewhere. */
function Figure({ children, instead }: { children: ReactNode; instead?: ReactNode }) {
  if (children) return children;
  return (
    <>
      <span className={classes.onDesk}>–</span>
      <span className={`${classes.onPhone} ${classes.aside}`}>{instead}</span>
    </>
  );
}

/** An embedding has no output. */
const outputPrice = (listed: Listed | undefined): string | null =>
  !listed || listed.family === 'embedding' ? null : listed.outputPricePerMillionUsd;

/** `$0.50 in, $1.50 out per 1M` */
function pricesOf(listed: Listed | undefined): string | undefined {
  if (!listed) return undefined;
  const output = outputPrice(listed);
  const prices = [`${moneyText(listed.inputPricePerMillionUsd)} in`];
  if (output !== null) prices.push(`${moneyText(output)} out`);
  return `${prices.join(', ')} per 1M`;
}

/** On a phone, figures have shorter labels than the column heads. */
const columnsFor = (allowed: readonly string[] | undefined): readonly Column<RankedModel>[] => [
  {
    id: 'model',
    head: 'Model',
    phone: 1,
    cell: ({ modelPublicName: name }) => (
      <>
        <a href={`/leaderboard/${encodeURIComponent(name.replace(/^gateway\//, ''))}`}>{name}</a>
        <span className={classes.about}>
          <SimulatedMark model={name} />
          {allowed && !allowed.includes(name) && <OutOfPlan model={name} />}
        </span>
      </>
    ),
  },
  {
    id: 'rank',
    head: 'Rank',
    figure: true,
    labelled: false,
    phone: 2,
    cell: ({ rank, rankTied }) => (
      <Figure>
        {typeof rank === 'number' && (
          <>
            <span className={classes.onPhone}>#</span>
            {rank}
            {rankTied && aside('shared')}
          </>
        )}
      </Figure>
    ),
  },
  {
    id: 'score',
    head: 'Score',
    figure: true,
    cell: ({ rankingScore }) => (typeof rankingScore === 'number' ? rankingScore.toFixed(3) : '–'),
  },
  {
    id: 'input',
    head: 'Input per 1M',
    usd: ({ listed }) => listed?.inputPricePerMillionUsd ?? null,
  },
  { id: 'output', head: 'Output per 1M', usd: ({ listed }) => outputPrice(listed), none: () => '–' },
  {
    id: 'context',
    head: 'Context, tokens',
    figure: true,
    cell: ({ listed }) => listed && formatCount(listed.contextWindow),
  },
  {
    id: 'price',
    head: 'Your price per 1M tokens',
    figure: true,
    labelled: false,
    phone: 11,
    cell: ({ mixPricePerMillionUsd: usd, listed }) => (
      <Figure instead={pricesOf(listed)}>
        {typeof usd === 'string' && (
          <>
            {/* An average of two prices, which nobody pays exactly. */}
            <span title={`$${usd}`}>{roundedDollars(Number(usd))}</span>
            <span className={classes.onPhone}> per 1M tokens</span>
          </>
        )}
      </Figure>
    ),
  },
  {
    id: 'latency',
    head: 'Latency for your lengths, p95',
    figure: true,
    labelled: false,
    phone: 12,
    cell: ({ mixP95LatencyMs: ms, mixCoverage, listed }) => (
      <Figure instead={listed && `${formatCount(listed.contextWindow)} context`}>
        {typeof ms === 'number' && (
          <>
            <span className={classes.onPhone}>p95 </span>
            {formatLatency(ms)}
            {mixCoverage < 1 && aside(`for ${formatRate(mixCoverage)} of them`)}
          </>
        )}
      </Figure>
    ),
  },
];

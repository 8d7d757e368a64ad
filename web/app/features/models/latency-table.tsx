import { type Column, DataTable } from '../../ui/data-table';
import { Empty } from '../../ui/empty';
import { formatCount, formatLatency, formatRate } from '../../ui/format';
import { type Entry, lengthOf } from './answer-lengths';
import classes from './models.module.css';

/** A model with all lengths of answers, or with one length. */
interface Line {
  id: string;
  model: string;
  length?: string;
  requests: number;
  own: number | null;
  everyones: number | null;
}

/** A line for each called model, and below it one for each length of its answers if there are several. */
function linesOf({ modelPublicName: model, bands, ...entry }: Entry): Line[] {
  if (entry.requests === 0) return [];
  const line = ({
    requests,
    p95LatencyMs,
    everyoneP95LatencyMs,
  }: Omit<Entry, 'modelPublicName' | 'bands'> | Entry['bands'][number]) => ({
    model,
    requests,
    own: p95LatencyMs ?? null,
    everyones: everyoneP95LatencyMs ?? null,
  });
  const whole = { id: model, ...line(entry) };
  if (bands.length < 2) return [whole];
  return [
    whole,
    ...bands.map((band) => ({
      id: `${model} ${band.fromOutputTokens}`,
      length: lengthOf(band),
      ...line(band),
    })),
  ];
}

const latency = (ms: number | null): string => (ms === null ? '–' : formatLatency(ms));

function comparison({ own, everyones }: Line): string {
  if (own === null || everyones === null) return '–';
  if (own === everyones) return 'the same';
  return `${formatRate(Math.abs(own - everyones) / everyones)} ${own < everyones ? 'faster' : 'slower'}`;
}

const COLUMNS: readonly Column<Line>[] = [
  {
    id: 'model',
    head: 'Model, length of answers',
    phone: 1,
    cell: ({ model, length }) =>
      length === undefined ? model : <span className={classes.length}>{length}</span>,
  },
  { id: 'calls', head: 'Your calls', figure: true, cell: ({ requests }) => formatCount(requests) },
  { id: 'own', head: 'Yours, p95', figure: true, phone: 2, cell: ({ own }) => latency(own) },
  {
    id: 'everyones',
    head: 'Everyone’s, p95',
    figure: true,
    phone: 11,
    cell: ({ everyones }) => latency(everyones),
  },
  {
    id: 'difference',
    head: 'Difference',
    figure: true,
    phone: 12,
    cell: comparison,
  },
];

/** The 95th percentile of latency of the account and of all accounts. */
export function LatencyTable({
  entries,
  windowDays,
}: {
  entries: readonly Entry[] | undefined;
  windowDays: number;
}) {
  return (
    <DataTable
      label="Latency by model and length of answers"
      columns={COLUMNS}
      rows={entries?.toSorted((a, b) => b.requests - a.requests).flatMap(linesOf)}
      keyOf={({ id }) => id}
      empty={
        <Empty>
          No successful calls in the last {windowDays} days. Figures are added after each full hour.
        </Empty>
      }
    />
  );
}

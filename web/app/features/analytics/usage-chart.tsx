import { Button } from '@mantine/core';
import { Suspense, useRef, useState } from 'react';
import type { SeriesPointFragment } from '../../../generated/graphql';
import { lazyLargePart } from '../../lazy-page';
import { Awaiting } from '../../ui/awaiting';
import type { BarChartProps } from '../../ui/bar-chart';
import { Choice } from '../../ui/choice';
import { type Column, DataTable } from '../../ui/data-table';
import { formatCount } from '../../ui/format';
import { Section } from '../../ui/section';
import { Waiting } from '../../ui/waiting';
import { WhenSeen } from '../../ui/when-seen';
import {
  amountOf,
  MEASURES,
  type Measure,
  modelsBy,
  OTHERS,
  type Sums,
  seriesNames,
  shortValue,
  startName,
  startsOf,
  sumOf,
  sumWords,
} from './series.rules';
import classes from './usage-chart.module.css';
import { localZone, type Zone, zoneOf } from './zone';

/** Height of the chart with its legend. */
const HEIGHT = 220;
const NAMES_HEIGHT = 26;

const BarChart = lazyLargePart(() => import('../../ui/bar-chart'), 'default');

type Point = SeriesPointFragment;
type Row = Sums & { start: string };

const columnsOf = (head: string): readonly Column<Row>[] => [
  { id: 'start', head, cell: ({ start }) => startName(start) },
  { id: 'requests', head: 'Requests', figure: true, cell: ({ requests }) => formatCount(requests) },
  { id: 'tokens', head: 'Tokens', figure: true, cell: ({ tokens }) => formatCount(tokens) },
  { id: 'errors', head: 'Errors', figure: true, cell: ({ errors }) => formatCount(errors) },
  { id: 'cost', head: 'Cost', usd: ({ costUsd }) => costUsd },
];

interface UsageChartProps {
  points: readonly Point[] | undefined;
  windowDays: number;
  measure: Measure;
  onMeasure(measure: Measure): void;
  zone: Zone;
  onZone(zone: Zone): void;
  awaiting: boolean;
}

/** Usage per day, or today per hour, by model: as a chart or a table. */
export function UsageChart(props: UsageChartProps) {
  const { points, measure, onMeasure, onZone, awaiting } = props;
  const [asTable, setAsTable] = useState(false);
  // While the points of another choice are awaited, the old ones keep their hours or days.
  const chosen = useRef({ windowDays: props.windowDays, zone: props.zone });
  if (!awaiting) chosen.current = { windowDays: props.windowDays, zone: props.zone };
  const { windowDays, zone } = chosen.current;
  const unit = windowDays === 1 ? 'hour' : 'day';
  const label = `${MEASURES.find(({ value }) => value === measure)!.label} per ${unit}`;
  const clock = zone === 'utc' ? 'UTC' : localZone();
  const byStart = Map.groupBy(points ?? [], ({ start }) => start);
  const starts = startsOf(windowDays, zoneOf(zone), Date.now());
  return (
    <Section
      title={unit === 'hour' ? 'Per hour' : 'Per day'}
      tools={
        <div className={classes.tools}>
          <Choice label="Measure" options={MEASURES} value={measure} onChange={onMeasure} />
          {localZone() !== 'UTC' && (
            <Choice
              label="Time zone of days"
              options={[
                { value: 'utc', label: 'UTC' },
                { value: 'local', label: 'Local' },
              ]}
              value={props.zone}
              onChange={onZone}
            />
          )}
          <Button variant="default" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
            {asTable ? 'Show as chart' : 'Show as table'}
          </Button>
        </div>
      }
    >
      {points && asTable && (
        <DataTable
          label={label}
          columns={columnsOf(`${unit === 'hour' ? 'Hour' : 'Day'}, ${clock}`)}
          rows={starts.map((start) => ({ start, ...sumOf(byStart.get(start) ?? []) }))}
          keyOf={({ start }) => start}
          awaiting={awaiting}
          empty=""
        />
      )}
      {!points && <Waiting height={HEIGHT + NAMES_HEIGHT} />}
      {points && !asTable && (
        <Awaiting awaiting={awaiting}>
          <Drawn label={label} unit={unit} measure={measure} {...drawn(points, starts, measure)} />
        </Awaiting>
      )}
      <p className={classes.clock}>
        {unit === 'hour' ? 'Hours' : 'Days'} in {clock}. Money is counted by UTC day.
      </p>
    </Section>
  );
}

/** The chart, rendered once it is in view. */
function Drawn({ measure, ...chart }: Omit<BarChartProps, 'format'> & { measure: Measure }) {
  const height = chart.series.length > 1 ? HEIGHT + NAMES_HEIGHT : HEIGHT;
  return (
    <WhenSeen height={height}>
      <Suspense fallback={<Waiting height={height} />}>
        <BarChart {...chart} format={(value) => shortValue(value, measure)} />
      </Suspense>
    </WhenSeen>
  );
}

/** The data of the chart: a mark for each hour or day, with a value for each series. */
function drawn(points: readonly Point[], starts: readonly string[], measure: Measure) {
  // Errors are a single series, red and hatched.
  const names = measure === 'errors' ? ['errors'] : seriesNames(modelsBy(points, measure));
  const seriesOf = ({ modelPublicName }: Point): number => {
    if (measure === 'errors') return 0;
    const own = names.indexOf(modelPublicName);
    return own >= 0 ? own : names.indexOf(OTHERS);
  };
  const byStart = Map.groupBy(points, ({ start }) => start);
  return {
    series: names,
    tone: measure === 'errors' ? ('bad' as const) : ('accent' as const),
    marks: starts.map((start) => {
      const own = byStart.get(start) ?? [];
      const bySeries = Map.groupBy(own, seriesOf);
      return {
        name: startName(start),
        parts: names.map((_, series) => amountOf(sumOf(bySeries.get(series) ?? []), measure)),
        words: sumWords(sumOf(own)),
      };
    }),
  };
}

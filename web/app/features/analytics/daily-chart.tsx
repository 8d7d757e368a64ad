import { Button } from '@mantine/core';
import { useState } from 'react';
import type { WindowFiguresFragment } from '../../../generated/graphql';
import { BarChart } from '../../ui/bar-chart';
import { Choice } from '../../ui/choice';
import { type Column, DataTable } from '../../ui/data-table';
import { formatCount, formatDay, shortDollars } from '../../ui/format';
import { Money } from '../../ui/money';
import { moneyText } from '../../ui/money-text';
import { Section } from '../../ui/section';
import { Waiting } from '../../ui/waiting';
import classes from './daily-chart.module.css';

type Day = WindowFiguresFragment['dailyBreakdown'][number];
type Measure = 'cost' | 'requests' | 'errors';

const MEASURES = [
  { value: 'cost', label: 'Cost' },
  { value: 'requests', label: 'Requests' },
  { value: 'errors', label: 'Errors' },
] as const;

const COLUMNS: readonly Column<Day>[] = [
  { id: 'date', head: 'UTC day', cell: ({ date }) => formatDay(date) },
  { id: 'requests', head: 'Requests', figure: true, cell: ({ requests }) => formatCount(requests) },
  { id: 'errors', head: 'Errors', figure: true, cell: ({ errors }) => formatCount(errors) },
  { id: 'cost', head: 'Cost', figure: true, cell: ({ costUsd }) => <Money usd={costUsd} /> },
];

const plural = (count: number, word: string): string =>
  `${formatCount(count)} ${word}${count === 1 ? '' : 's'}`;

function markOf(day: Day, measure: Measure) {
  // The height of a bar: the exact amount stands in the words.
  const value = measure === 'cost' ? Number(day.costUsd) : day[measure];
  const name = formatDay(day.date);
  const words = [name, moneyText(day.costUsd), plural(day.requests, 'request'), plural(day.errors, 'error')];
  return {
    name,
    value,
    short: measure === 'cost' ? shortDollars(value) : formatCount(value),
    words: `${words[0]}: ${words.slice(1).join(', ')}`,
  };
}

/** Cost, requests or errors of each day, drawn or as a table. */
export function DailyChart({ days }: { days: readonly Day[] | undefined }) {
  const [measure, setMeasure] = useState<Measure>('cost');
  const [asTable, setAsTable] = useState(false);
  const tools = (
    <div className={classes.tools}>
      <Choice label="What is drawn" options={MEASURES} value={measure} onChange={setMeasure} />
      <Button variant="default" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
        {asTable ? 'Show as chart' : 'Show as table'}
      </Button>
    </div>
  );
  const label = `${MEASURES.find(({ value }) => value === measure)!.label} per day`;
  return (
    <Section title="Per day" tools={tools}>
      {!days && <Waiting height={240} />}
      {days && !asTable && (
        <BarChart
          label={label}
          marks={days.map((day) => markOf(day, measure))}
          tone={measure === 'errors' ? 'bad' : 'accent'}
        />
      )}
      {days && asTable && (
        <DataTable label={label} columns={COLUMNS} rows={days} keyOf={({ date }) => date} empty="" />
      )}
    </Section>
  );
}

import { useState } from 'react';
import { type WidgetRowFragment, WidgetUsageDocument } from '../../../generated/graphql';
import { useRefreshOnUsage } from '../../graphql/live-usage';
import { usePageQuery } from '../../graphql/use-page-query';
import { type Column, DataTable } from '../../ui/data-table';
import { formatCount } from '../../ui/format';
import { LoadError } from '../../ui/load-error';
import { Money } from '../../ui/money';
import { Section } from '../../ui/section';
import { Tile, Tiles } from '../../ui/tiles';
import { DEFAULT_WINDOW, type WindowDays } from '../analytics/window';
import { WindowChoice } from '../analytics/window-choice';
import classes from './widgets.module.css';

const REFRESH_MS = 2_000;

interface Site {
  site: string;
  messages: number;
  refused: number;
}

const columns: readonly Column<Site>[] = [
  { id: 'site', head: 'Site', phone: 1, cell: ({ site }) => site || 'Not named' },
  {
    id: 'messages',
    head: 'Answered',
    figure: true,
    phone: 11,
    cell: ({ messages }) => formatCount(messages),
  },
  { id: 'refused', head: 'Refused', figure: true, phone: 12, cell: ({ refused }) => formatCount(refused) },
];

/** What a widget was asked, what that cost, and where it was asked. */
export function WidgetUsage({ widget }: { widget: WidgetRowFragment }) {
  const [days, setDays] = useState<WindowDays>(DEFAULT_WINDOW);
  const { data, error, awaiting, refresh } = usePageQuery({
    query: WidgetUsageDocument,
    variables: { id: widget.id, window: days },
  });
  useRefreshOnUsage(refresh, REFRESH_MS);
  const usage = data?.viewer?.widgetUsage;
  const refused = usage?.refused.reduce((sum, { count }) => sum + count, 0);
  return (
    <Section title="Usage" tools={<WindowChoice value={days} onChange={setDays} />}>
      {error && <LoadError error={error} onRetry={refresh} />}
      <Tiles>
        <Tile label="Messages" note={usage && `${formatCount(usage.errors)} failed, free of charge`}>
          {usage && formatCount(usage.messages)}
        </Tile>
        <Tile label="Cost">{usage && <Money usd={usage.costUsd} />}</Tile>
        <Tile
          label="Tokens"
          note={usage && `${formatCount(usage.inputTokens)} in, ${formatCount(usage.outputTokens)} out`}
        >
          {usage && formatCount(usage.inputTokens + usage.outputTokens)}
        </Tile>
        <Tile label="Today (UTC)" note={`of ${formatCount(widget.dailyMessageLimit)} messages`}>
          {formatCount(widget.messagesToday)}
        </Tile>
      </Tiles>
      {refused !== undefined && refused > 0 && (
        <p className={classes.hint}>
          Refused: {usage!.refused.map(({ code, count }) => `${formatCount(count)} × ${code}`).join(', ')}.
        </p>
      )}
      <DataTable
        label="Sites"
        columns={columns}
        rows={usage?.sites}
        awaiting={awaiting}
        keyOf={({ site }) => site}
        empty="No site has asked anything in this window."
      />
    </Section>
  );
}

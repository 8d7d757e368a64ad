import { useNavigate, useSearch } from '@tanstack/react-router';
import { type WidgetRowFragment, WidgetUsageDocument } from '../../../generated/graphql';
import { useRefreshOnUsage } from '../../graphql/live-usage';
import { usePageQuery } from '../../graphql/use-page-query';
import { paths } from '../../paths';
import { Awaiting } from '../../ui/awaiting';
import { type Column, DataTable } from '../../ui/data-table';
import { counted, formatCount } from '../../ui/format';
import { LoadError } from '../../ui/load-error';
import { Money } from '../../ui/money';
import { Section } from '../../ui/section';
import { Tile, Tiles } from '../../ui/tiles';
import { DEFAULT_WINDOW } from '../analytics/window';
import { WindowChoice } from '../analytics/window-choice';

const REFRESH_MS = 2_000;

interface Site {
  site: string;
  messages: number;
  refused: number;
  costUsd: string;
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
  { id: 'refused', head: 'Rejected', figure: true, phone: 12, cell: ({ refused }) => formatCount(refused) },
  { id: 'cost', head: 'Cost', figure: true, phone: 2, usd: ({ costUsd }) => costUsd },
];

interface Refusal {
  code: string;
  count: number;
}

const refusalColumns: readonly Column<Refusal>[] = [
  { id: 'reason', head: 'Rejected because', phone: 1, cell: ({ code }) => REASONS[code] ?? code },
  { id: 'code', head: 'Code', phone: 11, cell: ({ code }) => <code>{code}</code> },
  { id: 'count', head: 'Messages', figure: true, phone: 2, cell: ({ count }) => formatCount(count) },
];

const REASONS: Readonly<Record<string, string>> = {
  widget_origin_denied: 'Site not allowed',
  validation_error: 'Invalid message or forged history',
  widget_rate_limit: 'Messages per minute',
  visitor_rate_limit: 'One visitor’s messages per minute',
  visitor_daily_limit: 'One visitor’s messages per day',
  widget_loop_detected: 'Repeating messages',
  widget_daily_cap_exceeded: 'Messages per day',
  widget_monthly_limit_exceeded: 'Monthly budget spent',
  widget_owner_insufficient_balance: 'Balance used up',
  model_not_allowed: 'Model not in your plan',
  upstream_unconfigured: 'Not connected to its model',
  service_unavailable: 'Temporarily unavailable, or balance reserved by calls in progress',
};

/** Messages and cost of a widget, and the domains they came from. */
export function WidgetUsage({ widget }: { widget: WidgetRowFragment }) {
  const { window = DEFAULT_WINDOW } = useSearch({ from: '/signed-in/dashboard/widgets/$widgetId' });
  const navigate = useNavigate({ from: paths.widget });
  const { data, error, awaiting, refresh } = usePageQuery({
    query: WidgetUsageDocument,
    variables: { id: widget.id, window },
  });
  useRefreshOnUsage(refresh, REFRESH_MS);
  const usage = data?.viewer?.widgetUsage;
  const refused = usage?.refused.reduce((sum, { count }) => sum + count, 0);
  return (
    <Section
      title="Usage"
      tools={
        <WindowChoice
          value={window}
          onChange={(days) =>
            void navigate({
              search: (before) => ({ ...before, window: days }),
              replace: true,
              resetScroll: false,
            })
          }
        />
      }
    >
      {error && <LoadError error={error} onRetry={refresh} />}
      {(data || !error) && (
        <>
          <Awaiting awaiting={awaiting}>
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
              <Tile label="Today (UTC)" note={`of ${counted(widget.dailyMessageLimit, 'message')}`}>
                {formatCount(widget.messagesToday)}
              </Tile>
            </Tiles>
          </Awaiting>
          {refused !== undefined && refused > 0 && (
            <DataTable
              label="Rejected messages"
              columns={refusalColumns}
              rows={usage!.refused}
              awaiting={awaiting}
              keyOf={({ code }) => code}
              empty="No messages were rejected."
            />
          )}
          <DataTable
            label="Sites"
            columns={columns}
            rows={usage?.sites}
            awaiting={awaiting}
            keyOf={({ site }) => site}
            empty="No site has sent a message in this window."
          />
        </>
      )}
    </Section>
  );
}

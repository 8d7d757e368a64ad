import { Button } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { type WidgetRowFragment, WidgetsDocument } from '../../../generated/graphql';
import { useRefreshOnUsage } from '../../graphql/live-usage';
import { usePageQuery } from '../../graphql/use-page-query';
import outlines from '../../outlines.json';
import { paths } from '../../paths';
import { type Column, DataTable } from '../../ui/data-table';
import { Empty } from '../../ui/empty';
import { formatCount } from '../../ui/format';
import { LoadError } from '../../ui/load-error';
import { Moment } from '../../ui/moment';
import { PageHead } from '../../ui/page-head';

const columns: readonly Column<WidgetRowFragment>[] = [
  {
    id: 'name',
    head: 'Name',
    whole: ({ name }) => name,
    phone: 1,
    cell: ({ id, name }) => (
      <Link to={paths.widget} params={{ widgetId: id }}>
        {name}
      </Link>
    ),
  },
  {
    id: 'sites',
    head: 'Sites',
    phone: 11,
    whole: ({ allowedDomains }) => allowedDomains.join(', '),
    cell: ({ allowedDomains }) => allowedDomains.join(', ') || 'Any site',
  },
  { id: 'model', head: 'Model', cell: ({ modelPublicName }) => modelPublicName },
  {
    id: 'today',
    head: 'Messages today (UTC)',
    figure: true,
    phone: 12,
    cell: ({ messagesToday, dailyMessageLimit }) =>
      `${formatCount(messagesToday)} of ${formatCount(dailyMessageLimit)}`,
  },
  {
    id: 'spend',
    head: 'This month (UTC)',
    figure: true,
    phone: 2,
    usd: ({ spendMonthUsd }) => spendMonthUsd,
  },
  { id: 'created', head: 'Created', cell: ({ createdAt }) => <Moment at={createdAt} /> },
];

const REFRESH_MS = 2_000;

/** `/dashboard/widgets` */
export function WidgetsPage(): ReactNode {
  const navigate = useNavigate();
  const { data, error, awaiting, refresh } = usePageQuery({
    query: WidgetsDocument,
    variables: {},
    touches: ['Widget', 'DeleteWidgetPayload'],
  });
  useRefreshOnUsage(refresh, REFRESH_MS);
  const widgets = data?.viewer?.widgets;
  const create = (
    <Button onClick={() => void navigate({ to: paths.widget, params: { widgetId: 'new' } })}>
      Create widget
    </Button>
  );
  return (
    <>
      <PageHead {...outlines['/dashboard/widgets']} tools={widgets && widgets.length > 0 && create} />
      {error && <LoadError error={error} onRetry={refresh} />}
      {(widgets || !error) && (
        <DataTable
          label="Widgets"
          columns={columns}
          rows={widgets}
          awaiting={awaiting}
          keyOf={({ id }) => id}
          empty={
            <Empty action={create}>No widgets yet. Create one and add its script tag to your pages.</Empty>
          }
        />
      )}
    </>
  );
}

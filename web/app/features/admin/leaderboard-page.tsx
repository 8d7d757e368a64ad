import '@mantine/core/styles/InlineInput.css';
import '@mantine/core/styles/Switch.css';
import { Button, Switch } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import {
  FeaturedModelsDocument,
  type FeaturedModelsQuery,
  RecomputeLeaderboardDocument,
  UpdateModelDocument,
} from '../../../generated/graphql';
import { useAction } from '../../graphql/use-action';
import { usePageQuery } from '../../graphql/use-page-query';
import { type Column, DataTable } from '../../ui/data-table';
import { ErrorNote } from '../../ui/error-note';
import { formatCount } from '../../ui/format';
import { LoadError } from '../../ui/load-error';
import { PageHead } from '../../ui/page-head';
import { Section } from '../../ui/section';
import { useUnread } from '../../ui/unread';
import classes from './admin.module.css';

type Model = NonNullable<FeaturedModelsQuery['models']>[number];

const columns: readonly Column<Model>[] = [
  {
    id: 'model',
    head: 'Model',
    phone: 1,
    cell: ({ modelPublicName }) => <span className={classes.name}>{modelPublicName}</span>,
  },
  { id: 'family', head: 'Family', phone: 11, cell: ({ family }) => family },
  { id: 'featured', head: 'Featured', phone: 2, cell: (model) => <Featured model={model} /> },
];

/** `/admin/leaderboard` */
export function LeaderboardPage(): ReactNode {
  const { data, error, refresh } = usePageQuery({ query: FeaturedModelsDocument, variables: {} });
  return (
    <>
      <PageHead
        title="Leaderboard"
        lead="Featured models are marked on public pages. Prices and ranks come from the catalog and from calls."
        tools={<a href="/leaderboard">Public leaderboard</a>}
      />
      {error && <LoadError error={error} onRetry={refresh} />}
      {(data || !error) && (
        <DataTable
          label="Featured models"
          columns={columns}
          rows={data?.models ?? undefined}
          keyOf={({ modelPublicName }) => modelPublicName}
          empty="The catalog has no models. It is filled when the platform starts."
        />
      )}
      <Recompute />
    </>
  );
}

/** Features a model or not, without a confirmation, since it can be undone. */
function Featured({ model: { modelPublicName: name, isFeatured } }: { model: Model }) {
  const { run, error, sending } = useAction(UpdateModelDocument);
  const [unread, noteSaved] = useUnread(String(isFeatured));
  const set = async (on: boolean): Promise<void> => {
    const { data } = await run({ input: { name, isFeatured: on } });
    if (data) noteSaved(String(on));
  };
  return (
    <>
      <Switch
        aria-label={`${name} is featured`}
        checked={(unread ?? String(isFeatured)) === 'true'}
        disabled={sending || unread !== undefined}
        onChange={({ currentTarget }) => void set(currentTarget.checked)}
      />
      {error && <ErrorNote error={error} />}
    </>
  );
}

/** Rolls up the current hour; earlier hours were rolled up when they ended. */
function Recompute() {
  const recompute = useAction(RecomputeLeaderboardDocument);
  const [hours, setHours] = useState<number>();
  const send = async (): Promise<void> => {
    setHours(undefined);
    const { data } = await recompute.run({});
    if (data) setHours(data.recomputeLeaderboard.hours);
  };
  return (
    <Section title="Figures">
      <div className={classes.row}>
        <Button variant="default" onClick={() => void send()} loading={recompute.sending}>
          Recompute
        </Button>
        <p role="status" className={classes.hint}>
          {hours === undefined
            ? 'Calls count once their hour is over. Recompute counts those of the current hour now.'
            : `Recomputed ${formatCount(hours)} ${hours === 1 ? 'hour' : 'hours'}.`}
        </p>
      </div>
      {recompute.error && <ErrorNote error={recompute.error} />}
    </Section>
  );
}

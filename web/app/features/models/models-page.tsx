import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ModelsDocument } from '../../../generated/graphql';
import { usePageQuery } from '../../graphql/use-page-query';
import outlines from '../../outlines.json';
import { paths } from '../../paths';
import { Choice } from '../../ui/choice';
import { LoadError } from '../../ui/load-error';
import { PageHead } from '../../ui/page-head';
import { Section } from '../../ui/section';
import { LatencyTable } from './latency-table';
import classes from './models.module.css';
import { MODEL_WINDOWS, type ModelWindow } from './models-search';
import { RankTable } from './rank-table';
import { YourMix } from './your-mix';

const OPTIONS = MODEL_WINDOWS.map((value) => ({ value, label: `${value} days` }));

/** `/dashboard/models`: the leaderboard for the account's own calls. */
export function ModelsPage(): ReactNode {
  const { window = 7 } = useSearch({ from: '/signed-in/dashboard/models' });
  const navigate = useNavigate({ from: paths.models });
  const { data, error, awaiting, refresh } = usePageQuery({ query: ModelsDocument, variables: { window } });
  const board = awaiting ? undefined : data?.viewer?.leaderboardMix;
  const choose = (days: ModelWindow): void =>
    void navigate({ search: days === 7 ? {} : { window: days }, replace: true });
  return (
    <>
      <PageHead
        {...outlines['/dashboard/models']}
        tools={<Choice label="Time window" options={OPTIONS} value={window} onChange={choose} />}
      />
      {error && <LoadError error={error} onRetry={refresh} />}
      {(data || !error) && (
        <>
          <YourMix mix={board?.mix} />
          <Section title="Ranked for your calls" tools={<a href="/leaderboard">Public leaderboard</a>}>
            <RankTable
              entries={board?.entries}
              models={data?.models ?? []}
              allowed={data?.viewer?.plan.allowedModels}
            />
            <p className={classes.hint}>
              The public score, with the price of your proportion of input and output tokens, and the latency
              of all accounts for answers as long as yours. A dash there means too few calls to tell, or an
              embedding model, which is no part of your mix.
            </p>
          </Section>
          <Section title="Your latency compared with everyone’s">
            <LatencyTable entries={board?.entries} windowDays={window} />
            <p className={classes.hint}>
              95th percentile of successful calls. Everyone’s answers are weighted to the lengths of yours, so
              that the two compare.
            </p>
          </Section>
        </>
      )}
    </>
  );
}

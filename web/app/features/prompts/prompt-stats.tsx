import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import {
  PromptComparisonDocument,
  type PromptComparisonQuery,
  PromptStatsDocument,
  type VersionFiguresFragment,
} from '../../../generated/graphql';
import { useRefreshOnUsage } from '../../graphql/live-usage';
import { usePageQuery } from '../../graphql/use-page-query';
import { paths } from '../../paths';
import { Awaiting } from '../../ui/awaiting';
import { LoadError } from '../../ui/load-error';
import { Note } from '../../ui/note';
import { Waiting } from '../../ui/waiting';
import { DEFAULT_WINDOW, refreshMsOf, type WindowDays } from '../analytics/window';
import { WindowChoice } from '../analytics/window-choice';
import { WhatIf } from '../what-if/what-if';
import type { LoadedPrompt } from './loaded-prompt';
import classes from './prompts.module.css';
import { firstPair, VersionChoice } from './version-choice';
import { VersionFigures } from './version-figures';

/** Figures of the calls that named a version: of one version, or of two side by side. */
export function PromptStats({ prompt }: { prompt: LoadedPrompt }) {
  const { window = DEFAULT_WINDOW } = useSearch({ from: '/signed-in/dashboard/prompts/$promptId' });
  const navigate = useNavigate({ from: paths.prompt });
  return (
    <>
      <div className={classes.stack}>
        <div>
          <WindowChoice
            value={window}
            onChange={(days) =>
              void navigate({ search: (before) => ({ ...before, window: days }), replace: true })
            }
          />
        </div>
        <p className={classes.hint}>
          Calls count for a version when they carry its id in the header <code>X-Gateway-Prompt-Version</code>
          . Costs come from the ledger.
        </p>
        {prompt.versionCount === 1 ? (
          <OneVersion prompt={prompt} window={window} />
        ) : (
          <TwoVersions prompt={prompt} window={window} />
        )}
      </div>
      <WhatIf
        what={`the calls of version ${prompt.activeVersion.version}`}
        windowDays={window}
        promptVersionId={prompt.activeVersionId}
      />
    </>
  );
}

interface StatsProps {
  prompt: LoadedPrompt;
  window: WindowDays;
}

function OneVersion({ prompt, window }: StatsProps) {
  const { data, error, awaiting, refresh } = usePageQuery({
    query: PromptStatsDocument,
    variables: { id: prompt.id, version: prompt.activeVersionId, window },
  });
  useRefreshOnUsage(refresh, refreshMsOf(window));
  const figures = data?.viewer?.prompt?.versionStats;
  return (
    <>
      {error && <LoadError error={error} onRetry={refresh} />}
      {!figures && !error && <Waiting height={240} />}
      {figures && (
        <Awaiting awaiting={awaiting}>
          <VersionFigures versions={[figures]} />
        </Awaiting>
      )}
    </>
  );
}

type Comparison = NonNullable<
  NonNullable<NonNullable<PromptComparisonQuery['viewer']>['prompt']>['comparison']
>;

function TwoVersions({ prompt, window }: StatsProps) {
  const active = prompt.activeVersion.version;
  const count = prompt.versionCount;
  const pair = firstPair(active, count);
  const [first, setFirst] = useState(active);
  const [second, setSecond] = useState(pair.from === active ? pair.to : pair.from);
  const { data, error, awaiting, refresh } = usePageQuery({
    query: PromptComparisonDocument,
    variables: { id: prompt.id, first, second, window },
  });
  useRefreshOnUsage(refresh, refreshMsOf(window));
  const comparison = data?.viewer?.prompt?.comparison;
  const choices = { count, active };
  return (
    <>
      <div className={classes.pair}>
        <VersionChoice {...choices} label="Version" value={first} without={second} onChange={setFirst} />
        <VersionChoice
          {...choices}
          label="Compare with"
          value={second}
          without={first}
          onChange={setSecond}
        />
      </div>
      {error && <LoadError error={error} onRetry={refresh} />}
      {!comparison && !error && <Waiting height={240} />}
      {comparison && (
        <Awaiting awaiting={awaiting}>
          <Verdict comparison={comparison} />
          <VersionFigures versions={[comparison.first, comparison.second]} />
        </Awaiting>
      )}
    </>
  );
}

/** Which of two versions fails less, if the difference is significant. */
function Verdict({ comparison: { first, second, fewerErrors } }: { comparison: Comparison }) {
  if (fewerErrors === 'INCONCLUSIVE') {
    return <Note tone="plain">Inconclusive: {reason(first, second)}</Note>;
  }
  const better = fewerErrors === 'FIRST' ? first : second;
  return (
    <Note tone="good">
      Version {better.version} fails less often: the 95% intervals of the error rates don’t overlap.
    </Note>
  );
}

function reason(first: VersionFiguresFragment, second: VersionFiguresFragment): string {
  const unused = [first, second].filter(({ requests }) => requests === 0);
  if (unused.length === 2) return 'no call has named either version in this window.';
  if (unused[0]) return `no call has named version ${unused[0].version} in this window.`;
  return 'the 95% intervals of the error rates overlap. More calls make them narrower.';
}

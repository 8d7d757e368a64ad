import { Button } from '@mantine/core';
import { useState } from 'react';
import { CancelPlaygroundRunsDocument, type SessionPartsFragment } from '../../../generated/graphql';
import { useAction } from '../../graphql/use-action';
import { paths } from '../../paths';
import { ButtonLink } from '../../ui/button-link';
import { Choice } from '../../ui/choice';
import { ErrorNote } from '../../ui/error-note';
import { Section } from '../../ui/section';
import { AnswerColumn, type AnswerView, AwaitedColumn } from './answer-column';
import classes from './playground.module.css';
import { isOver, winners } from './runs.rules';
import { ShareSession } from './share-session';
import { useLiveRuns } from './use-live-runs';

const VIEWS = [
  { value: 'markdown', label: 'Markdown' },
  { value: 'raw', label: 'Raw' },
] as const satisfies { value: AnswerView; label: string }[];

interface AnswersProps {
  session: SessionPartsFragment;
  /** When the answers were requested on this page; undefined if they weren't. */
  askedAtMs: number | undefined;
}

/** The streaming answers of a session side by side. */
export function Answers({ session, askedAtMs }: AnswersProps) {
  const runs = useLiveRuns(session);
  const { run: cancel, error, sending } = useAction(CancelPlaygroundRunsDocument);
  const [view, setView] = useState<AnswerView>('markdown');
  const { fastest, shortest } = winners(runs);
  const stop = (runId?: string): void =>
    void cancel({ input: { sessionId: session.id, runId: runId ?? null } });
  return (
    <Section
      title="Answers"
      tools={
        <div className={classes.actions}>
          {!runs.every(isOver) && (
            <Button variant="default" loading={sending} onClick={() => stop()}>
              Stop all
            </Button>
          )}
          <Choice label="How answers are shown" options={VIEWS} value={view} onChange={setView} />
          <ButtonLink
            variant="default"
            to={paths.newPrompt}
            search={{ session: session.id, ...(session.models[0] && { model: session.models[0] }) }}
          >
            Save as prompt
          </ButtonLink>
          <ShareSession session={session} />
        </div>
      }
    >
      {error && <ErrorNote error={error} />}
      <div className={classes.columns} data-columns={runs.length}>
        {runs.map((run) => (
          <AnswerColumn
            key={run.id}
            run={run}
            view={view}
            askedAtMs={askedAtMs}
            isFastest={run.id === fastest}
            isShortest={run.id === shortest}
            onStop={() => stop(run.id)}
          />
        ))}
      </div>
      <p className={classes.hint}>
        Playground runs aren’t charged. “Would cost” is the price of the same call on the API.
      </p>
    </Section>
  );
}

interface AwaitedAnswersProps {
  models: readonly string[];
  askedAtMs: number;
}

/** The columns before the runs have started. */
export function AwaitedAnswers({ models, askedAtMs }: AwaitedAnswersProps) {
  return (
    <Section title="Answers">
      <div className={classes.columns} data-columns={models.length}>
        {models.map((model) => (
          <AwaitedColumn key={model} model={model} askedAtMs={askedAtMs} />
        ))}
      </div>
    </Section>
  );
}

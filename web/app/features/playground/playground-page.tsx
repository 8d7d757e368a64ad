import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { PlaygroundSessionDocument, type SessionPartsFragment } from '../../../generated/graphql';
import { usePageQuery } from '../../graphql/use-page-query';
import { paths } from '../../paths';
import { ButtonLink } from '../../ui/button-link';
import { LoadError } from '../../ui/load-error';
import { Note } from '../../ui/note';
import { PageHead } from '../../ui/page-head';
import { Waiting } from '../../ui/waiting';
import { Answers, AwaitedAnswers } from './answers';
import { History } from './history';
import { NO_QUESTION, playgroundDraft, questionOf } from './playground-draft';
import { Question } from './question';

/** `/dashboard/playground` */
export function PlaygroundPage(): ReactNode {
  const search = useSearch({ from: '/signed-in/dashboard/playground' });
  const navigate = useNavigate({ from: paths.playground });
  /** The session that was started here, before it is read. */
  const [started, setStarted] = useState<SessionPartsFragment>();
  /** Models that are being asked: their columns are there before the server has said anything. */
  const [asking, setAsking] = useState<readonly string[]>();
  const show = (session: SessionPartsFragment): void => {
    setStarted(session);
    void navigate({ search: ({ draft: _draft, ...before }) => ({ ...before, session: session.id }) });
  };
  const common = { draft: playgroundDraft(search), onAsking: setAsking, onStarted: show };
  const known = started?.id === search.session ? started : undefined;
  return (
    <>
      <PageHead
        title="Playground"
        lead="Asks up to four models at once and streams their answers side by side. Nothing is charged."
        tools={
          (search.session || search.draft) && (
            <ButtonLink variant="default" to={paths.playground} search={{}}>
              New session
            </ButtonLink>
          )
        }
      />
      {search.session === undefined ? (
        <>
          <Question key="new" first={NO_QUESTION} {...common} />
          {asking && <AwaitedAnswers models={asking} />}
        </>
      ) : (
        <Session
          key={known ? 'new' : search.session}
          sessionId={search.session}
          known={known}
          asking={asking}
          {...common}
        />
      )}
      <History current={search.session} />
    </>
  );
}

interface SessionProps {
  sessionId: string;
  known: SessionPartsFragment | undefined;
  asking: readonly string[] | undefined;
  draft: string;
  onAsking(models: readonly string[] | undefined): void;
  onStarted(session: SessionPartsFragment): void;
}

/** A session that is under way or over: its answers below its question, which can be changed and asked again. */
function Session({ sessionId, known, asking, ...common }: SessionProps) {
  const { data, error, awaiting, refresh } = usePageQuery({
    query: PlaygroundSessionDocument,
    variables: { id: sessionId },
    touches: ['PlaygroundSession'],
  });
  const loaded = awaiting ? undefined : data?.viewer?.playgroundSession;
  const session = loaded ?? known;
  if (error?.code === 'not_found') {
    return (
      <>
        <Note tone="plain">
          This session is gone. It was deleted, or newer ones took its place: the last 50 are kept, and shared
          ones.
        </Note>
        <Question first={NO_QUESTION} {...common} />
      </>
    );
  }
  if (!session) return error ? <LoadError error={error} onRetry={refresh} /> : <Waiting height={320} />;
  return (
    <>
      {error && <LoadError error={error} onRetry={refresh} />}
      <Question first={questionOf(session)} {...common} />
      {asking ? <AwaitedAnswers models={asking} /> : <Answers key={session.id} session={session} />}
    </>
  );
}

import { useNavigate, useRouter, useSearch } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { PlaygroundSessionDocument, type SessionPartsFragment } from '../../../generated/graphql';
import { usePageQuery } from '../../graphql/use-page-query';
import outlines from '../../outlines.json';
import { paths } from '../../paths';
import { ButtonLink } from '../../ui/button-link';
import { LoadError } from '../../ui/load-error';
import { Note } from '../../ui/note';
import { PageHead } from '../../ui/page-head';
import { useIsHere } from '../../ui/use-is-here';
import { Waiting } from '../../ui/waiting';
import { Answers, AwaitedAnswers } from './answers';
import { playgroundDraft } from './draft-names';
import { History } from './history';
import { NO_QUESTION, questionOf } from './playground-draft';
import { playgroundSearch, searchOfSession } from './playground-search';
import { Question } from './question';
import { SharedQuestion } from './shared-question';

/** `/dashboard/playground` */
export function PlaygroundPage(): ReactNode {
  const search = useSearch({ from: '/signed-in/dashboard/playground' });
  const navigate = useNavigate({ from: paths.playground });
  const router = useRouter();
  const isOnPage = useIsHere();
  const draft = playgroundDraft(search);
  /** Whether the page still shows the same as when this function was created. */
  const isHere = (): boolean =>
    isOnPage() && playgroundDraft(playgroundSearch({ ...router.latestLocation.search })) === draft;
  /** Sessions that were started or loaded here; null: deleted. */
  const [sessions, setSessions] = useState<ReadonlyMap<string, SessionPartsFragment | null>>(new Map());
  /** The question that is being sent, and its models: their columns are shown before the server answers. */
  const [asking, setAsking] = useState<{ draft: string; models: readonly string[]; atMs: number }>();
  /** When sessions were started here, by draft and then by id, since the server's clock may differ. */
  const askedAtMs = useRef(new Map<string, number>());
  const onAsking = (models: readonly string[] | undefined): void => {
    const atMs = Date.now();
    if (models) askedAtMs.current.set(draft, atMs);
    setAsking((before) => {
      if (models) return { draft, models, atMs };
      return before?.draft === draft ? undefined : before;
    });
  };
  const { session: id } = search;
  const session = id === undefined ? undefined : sessions.get(id);
  const isAwaited = id !== undefined && session === undefined;
  const know = (key: string, known: SessionPartsFragment | null): void =>
    setSessions((before) => new Map(before).set(key, known));
  const show = async (started: SessionPartsFragment): Promise<void> => {
    askedAtMs.current.set(started.id, askedAtMs.current.get(draft) ?? Date.now());
    know(started.id, started);
    // If the user has gone elsewhere meanwhile, the session is in the history.
    if (isHere()) await navigate({ search: (before) => searchOfSession(before, started.id) });
    onAsking(undefined);
  };
  return (
    <>
      <PageHead
        {...outlines['/dashboard/playground']}
        tools={
          (id || search.draft || search.slug) && (
            <ButtonLink variant="default" to={paths.playground} search={{}}>
              New session
            </ButtonLink>
          )
        }
      />
      {id !== undefined && (
        <SessionReader key={id} sessionId={id} isKnown={!isAwaited} onRead={(read) => know(id, read)} />
      )}
      {search.slug !== undefined && id === undefined && !search.draft ? (
        <SharedQuestion
          key={search.slug}
          slug={search.slug}
          draw={(first) => <Question draft={draft} first={first} onAsking={onAsking} onStarted={show} />}
        />
      ) : (
        !isAwaited && (
          <Question
            draft={draft}
            first={session ? questionOf(session) : NO_QUESTION}
            onAsking={onAsking}
            onStarted={show}
          />
        )
      )}
      {session ? (
        // The answers stay until those of the next question have started: it may be refused.
        <Answers key={session.id} session={session} askedAtMs={askedAtMs.current.get(session.id)} />
      ) : (
        asking?.draft === draft && <AwaitedAnswers models={asking.models} askedAtMs={asking.atMs} />
      )}
      <History current={id} />
    </>
  );
}

interface SessionReaderProps {
  sessionId: string;
  isKnown: boolean;
  /** Called with the session whenever it was loaded, or with null if it was deleted. */
  onRead(session: SessionPartsFragment | null): void;
}

/** Loads the session of the address, and shows errors. */
function SessionReader({ sessionId, isKnown, onRead }: SessionReaderProps) {
  const { data, error, refresh } = usePageQuery({
    query: PlaygroundSessionDocument,
    variables: { id: sessionId },
    touches: ['PlaygroundSession'],
  });
  const isGone = error?.code === 'not_found';
  const read = isGone ? null : data?.viewer?.playgroundSession;
  useEffect(() => {
    if (read !== undefined) onRead(read);
  }, [read]);
  if (isGone) {
    return (
      <Note tone="plain">
        This session is gone. It was deleted, or newer ones took its place: the last 50 are kept, and shared
        ones for longer.
      </Note>
    );
  }
  if (error) return <LoadError error={error} onRetry={refresh} />;
  return isKnown ? null : <Waiting height={320} />;
}

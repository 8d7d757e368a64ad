import { Button } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { CombinedError } from 'urql';
import { reloadForPart, reloadIfReachable } from '../build';
import { type ShownError, shownError } from '../graphql/errors';
import { forgetFailures, PartMissingError } from '../lazy-page';
import { onLiveReturn } from '../session';
import { ErrorNote } from '../ui/error-note';
import { PageTitle } from '../ui/page-title';
import { Waiting } from '../ui/waiting';
import classes from './shell.module.css';

const TITLE = 'This page can’t be shown';

const OWN_FAULT: ShownError = {
  code: 'internal_error',
  message: 'Something went wrong on this page. Nothing you typed is lost. Try again.',
  fields: {},
  requestId: null,
};

const NOT_FETCHED: ShownError = {
  code: 'network',
  message: 'This page couldn’t be loaded: the server can’t be reached. Nothing you typed is lost.',
  fields: {},
  requestId: null,
};

interface PageErrorProps {
  error: unknown;
}

/** Instead of a page that could not be shown, inside of what stands around it. */
export function PageError({ error }: PageErrorProps) {
  return (
    <div className={classes.failure}>
      {error instanceof PartMissingError ? <MissingPart part={error.part} /> : <Failed error={error} />}
    </div>
  );
}

/** The same where nothing stands around it. */
export function ErrorPage({ error }: PageErrorProps) {
  return (
    <main id="main" tabIndex={-1} className={classes.plain}>
      <PageError error={error} />
    </main>
  );
}

function Failed({ error }: PageErrorProps) {
  const router = useRouter();
  return (
    <>
      <PageTitle>{TITLE}</PageTitle>
      <ErrorNote error={error instanceof CombinedError ? shownError(error) : OWN_FAULT} />
      <Button onClick={() => void router.invalidate()}>Try again</Button>
    </>
  );
}

/**
 * Part of the app is missing: since a new build took its place, or since the server is or was away. Once it answers, the page is
 * tried again by itself.
 */
function MissingPart({ part }: { part: string }) {
  const router = useRouter();
  const [asking, setAsking] = useState(true);
  const [trying, setTrying] = useState(false);
  useEffect(() => {
    forgetFailures();
    void reloadForPart(part).then(() => setAsking(false));
    const again = (): void => void router.invalidate();
    const stop = onLiveReturn(again);
    // Before the log-in nothing is live.
    addEventListener('online', again);
    return () => {
      stop();
      removeEventListener('online', again);
    };
  }, [router, part]);
  const tryAgain = async (): Promise<void> => {
    setTrying(true);
    if (!(await reloadIfReachable())) setTrying(false);
  };
  if (asking) return <Waiting width={240} height={32} />;
  return (
    <>
      <PageTitle>{TITLE}</PageTitle>
      <ErrorNote error={NOT_FETCHED} />
      <Button loading={trying} onClick={() => void tryAgain()}>
        Try again
      </Button>
    </>
  );
}

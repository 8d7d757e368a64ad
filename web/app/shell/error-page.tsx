import { Button } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { CombinedError } from 'urql';
import { reloadForPart, reloadIfReachable } from '../build';
import { type ShownError, shownError } from '../graphql/errors';
import { waitToRetry } from '../graphql/lasting';
import { forgetFailures, PartMissingError } from '../lazy-page';
import { loadViewer, onLiveReturn } from '../session';
import { ErrorNote } from '../ui/error-note';
import { PageTitle } from '../ui/page-title';
import { wouldLoseText } from '../ui/unsaved';
import { Waiting } from '../ui/waiting';
import classes from './shell.module.css';

const TITLE = 'This page can’t be shown';

const OWN_FAULT: ShownError = {
  code: 'internal_error',
  message: 'Something went wrong on this page. Nothing you typed is lost. Try again.',
  fields: {},
  requestId: null,
};

const NOTHING_LOST = ' Nothing you typed is lost.';

const notFetched = (isReachable: boolean): ShownError => ({
  code: 'network',
  message: `${isReachable ? 'Part of this page couldn’t be loaded.' : 'This page couldn’t be loaded: the server can’t be reached.'}${wouldLoseText() ? '' : NOTHING_LOST}`,
  fields: {},
  requestId: null,
});

interface PageErrorProps {
  error: unknown;
}

/** Replaces a page that could not be shown, inside the layout. */
export function PageError({ error }: PageErrorProps) {
  return (
    <div className={classes.failure}>
      {error instanceof PartMissingError ? <MissingPart part={error.part} /> : <Failed error={error} />}
    </div>
  );
}

/** The same without a layout. */
export function ErrorPage({ error }: PageErrorProps) {
  return (
    <main id="main" tabIndex={-1} className={classes.plain}>
      <PageError error={error} />
    </main>
  );
}

/** Tries again by itself once the server answers. */
function Failed({ error }: PageErrorProps) {
  const router = useRouter();
  useEffect(() => {
    if (!(error instanceof CombinedError)) return;
    let isOver = false;
    const follow = async (): Promise<void> => {
      for (let attempts = 0; ; attempts++) {
        await waitToRetry(attempts);
        if (isOver) return;
        const answers = await loadViewer().then(
          () => true,
          () => false,
        );
        if (isOver) return;
        if (answers) return void router.invalidate();
      }
    };
    void follow();
    return () => {
      isOver = true;
    };
  }, [router, error]);
  return (
    <>
      <PageTitle>{TITLE}</PageTitle>
      <ErrorNote error={error instanceof CombinedError ? shownError(error) : OWN_FAULT} />
      <Button onClick={() => void router.invalidate()}>Try again</Button>
    </>
  );
}

/**
 * Part of the app is missing: a new build has replaced it, or the server is or was away. Tries again by itself once the server
 * answers.
 */
function MissingPart({ part }: { part: string }) {
  const router = useRouter();
  /** Undefined until that is known. */
  const [isReachable, setReachable] = useState<boolean>();
  const [trying, setTrying] = useState(false);
  useEffect(() => {
    forgetFailures();
    void reloadForPart(part).then(setReachable);
    const again = (): void => void router.invalidate();
    const stop = onLiveReturn(again);
    // There is no live connection before the log-in.
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
  if (isReachable === undefined) return <Waiting width={240} height={32} />;
  return (
    <>
      <PageTitle>{TITLE}</PageTitle>
      <ErrorNote error={notFetched(isReachable)} />
      <Button loading={trying} onClick={() => void tryAgain()}>
        Try again
      </Button>
    </>
  );
}

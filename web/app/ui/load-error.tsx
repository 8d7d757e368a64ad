import { Button } from '@mantine/core';
import { useState } from 'react';
import type { ShownError } from '../graphql/errors';
import { ErrorNote } from './error-note';
import classes from './load-error.module.css';

/** Shown instead of data that could not be loaded, or above data that could not be refreshed. */
export function LoadError({ error, onRetry }: { error: ShownError; onRetry(): void }) {
  // Until the next answer, with another error or without one.
  const [tried, setTried] = useState<ShownError>();
  const retry = (): void => {
    setTried(error);
    onRetry();
  };
  return (
    <div className={classes.failure}>
      <ErrorNote error={error} />
      <Button variant="default" loading={tried === error} onClick={retry}>
        Try again
      </Button>
    </div>
  );
}

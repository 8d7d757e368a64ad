import { Button } from '@mantine/core';
import { useState } from 'react';
import type { ShownError } from '../graphql/errors';
import { ErrorNote } from './error-note';
import classes from './load-error.module.css';

/** Instead of what could not be loaded, or above what is no longer fresh. */
export function LoadError({ error, onRetry }: { error: ShownError; onRetry(): void }) {
  // The next answer brings another error, or none.
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

import { Button } from '@mantine/core';
import type { ShownError } from '../graphql/errors';
import { ErrorNote } from './error-note';
import classes from './load-error.module.css';

/** Instead of what could not be loaded, or above what is no longer fresh. */
export function LoadError({ error, onRetry }: { error: ShownError; onRetry(): void }) {
  return (
    <div className={classes.failure}>
      <ErrorNote error={error} />
      <Button variant="default" onClick={onRetry}>
        Try again
      </Button>
    </div>
  );
}

import { Button } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import { CombinedError } from 'urql';
import { shownError } from '../graphql/errors';
import { ErrorNote } from '../ui/error-note';
import { PageTitle } from '../ui/page-title';
import classes from './shell.module.css';

const OWN_FAULT = {
  code: 'internal_error',
  message: 'This page has a fault. Nothing of yours is lost; loading it again may help.',
  fields: {},
  requestId: null,
};

/** Instead of a page that could not be shown. */
export function ErrorPage({ error }: { error: unknown }) {
  const router = useRouter();
  return (
    <main id="main" tabIndex={-1} className={classes.plain}>
      <PageTitle>This page can’t be shown</PageTitle>
      <ErrorNote error={error instanceof CombinedError ? shownError(error) : OWN_FAULT} />
      <Button onClick={() => void router.invalidate()}>Try again</Button>
    </main>
  );
}

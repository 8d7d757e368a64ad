import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { type DocumentInput, useMutation } from 'urql';
import { type ShownError, shownError } from '../../graphql/errors';
import { safeNext } from '../../paths';
import { renewSession } from '../../session';

/** Sends one of the forms that open a session and goes on to the page that was asked for. */
export function useEntry<Data, Input>(document: DocumentInput<Data, { input: Input }>) {
  const navigate = useNavigate();
  const { next } = useSearch({ strict: false });
  const [{ fetching }, mutate] = useMutation(document);
  const [error, setError] = useState<ShownError | null>(null);
  const enter = async (input: Input): Promise<ShownError | null> => {
    setError(null);
    const result = await mutate({ input });
    if (result.error) {
      const shown = shownError(result.error);
      setError(shown);
      return shown;
    }
    renewSession();
    await navigate({ href: safeNext(next), replace: true });
    return null;
  };
  return { enter, error, sending: fetching };
}

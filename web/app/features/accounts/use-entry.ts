import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { DocumentInput } from 'urql';
import type { ShownError } from '../../graphql/errors';
import { useAction } from '../../graphql/use-action';
import { safeNext } from '../../paths';
import { renewSession } from '../../session';

/** Sends a form that opens a session, then goes to the requested page. */
export function useEntry<Data, Input>(document: DocumentInput<Data, { input: Input }>) {
  const navigate = useNavigate();
  const { next } = useSearch({ strict: false });
  const { run, error, sending } = useAction(document, { asNobody: true });
  const [entering, setEntering] = useState(false);
  const enter = async (input: Input): Promise<ShownError | null> => {
    const outcome = await run({ input });
    if (outcome.error) return outcome.error;
    setEntering(true);
    renewSession();
    // Until the next page is shown, the form could be sent again.
    await navigate({ href: safeNext(next), replace: true }).finally(() => setEntering(false));
    return null;
  };
  return { enter, error, sending: sending || entering };
}

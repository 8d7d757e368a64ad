import { useNavigate, useSearch } from '@tanstack/react-router';
import type { DocumentInput } from 'urql';
import type { ShownError } from '../../graphql/errors';
import { useAction } from '../../graphql/use-action';
import { safeNext } from '../../paths';
import { renewSession } from '../../session';

/** Sends one of the forms that open a session and goes on to the page that was asked for. */
export function useEntry<Data, Input>(document: DocumentInput<Data, { input: Input }>) {
  const navigate = useNavigate();
  const { next } = useSearch({ strict: false });
  const { run, error, sending } = useAction(document);
  const enter = async (input: Input): Promise<ShownError | null> => {
    const outcome = await run({ input });
    if (outcome.error) return outcome.error;
    renewSession();
    await navigate({ href: safeNext(next), replace: true });
    return null;
  };
  return { enter, error, sending };
}

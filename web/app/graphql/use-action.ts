import { useState } from 'react';
import { type AnyVariables, type DocumentInput, useMutation } from 'urql';
import { AS_NOBODY } from './client';
import { type ShownError, shownError } from './errors';

/** A field of a mutation is null only beside an error. */
type Done<Data> = { [Field in keyof Data]-?: NonNullable<Data[Field]> };

type Outcome<Data> = { data: Done<Data>; error?: undefined } | { data?: undefined; error: ShownError };

interface ActionOptions {
  /** Types that the mutation changes though its answer has none of them. Their queries are repeated. */
  touches?: string[];
  /** Sent by a form before the log-in, which shows no account. */
  asNobody?: boolean;
}

/** A mutation of a button or form, with its error in the form that pages show. */
export function useAction<Data, Variables extends AnyVariables>(
  document: DocumentInput<Data, Variables>,
  { touches, asNobody = false }: ActionOptions = {},
) {
  const [{ fetching }, mutate] = useMutation(document);
  const [error, setError] = useState<ShownError | null>(null);
  const run = async (variables: Variables): Promise<Outcome<Data>> => {
    setError(null);
    const result = await mutate(variables, {
      ...(touches && { additionalTypenames: touches }),
      ...(asNobody && AS_NOBODY),
    });
    if (result.error) {
      const shown = shownError(result.error, { isChange: true });
      setError(shown);
      return { error: shown };
    }
    return { data: result.data! as Done<Data> };
  };
  return { run, error, sending: fetching, forget: () => setError(null) };
}

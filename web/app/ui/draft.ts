import { useReducer } from 'react';

/** Kept in memory only, and never a password or a key. */
const drafts = new Map<string, string>();

/** Nothing that one account has typed stays for the next. */
export const forgetDrafts = (): void => drafts.clear();

/**
 * What was typed into a field, which outlives the page: whoever has to log in again finds it where it was.
 * @returns the text, undefined while nothing was typed; how to change it; how to forget it
 */
export function useDraft(
  field: string,
): [text: string | undefined, change: (text: string) => void, forget: () => void] {
  const [, show] = useReducer((times: number) => times + 1, 0);
  const change = (next: string): void => {
    drafts.set(field, next);
    show();
  };
  const forget = (): void => {
    drafts.delete(field);
    show();
  };
  return [drafts.get(field), change, forget];
}

/** What of the model playground stands in the address. */
export interface PlaygroundSearch {
  /** The session that is shown. */
  session?: string;
  /** A text that another page has left to be asked. */
  draft?: string;
  /** Whether the history shows shared sessions alone. */
  shared?: boolean;
  /** What the history is searched for. */
  q?: string;
}

const text = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** From an address; whatever means nothing is left out. */
export const playgroundSearch = ({
  session,
  draft,
  shared,
  q,
}: Record<string, unknown>): PlaygroundSearch => ({
  ...(text(session) && { session }),
  ...(text(draft) && { draft }),
  ...(shared === true && { shared }),
  ...(text(q) && { q }),
});

/** What of the model playground stands in the address. */
export interface PlaygroundSearch {
  /** The session that is shown. */
  session?: string;
  /** A text that another page has left to be asked. */
  draft?: string;
  /** Slug of a shared session that is to be tried: its question is filled in. */
  slug?: string;
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
  slug,
  shared,
  q,
}: Record<string, unknown>): PlaygroundSearch => ({
  ...(text(session) && { session }),
  ...(text(draft) && { draft }),
  ...(text(slug) && { slug }),
  ...(shared === true && { shared }),
  ...(text(q) && { q }),
});

/** The same address for another session: what was to be asked in its place is left out. */
export const searchOfSession = (
  { draft: _draft, slug: _slug, ...kept }: PlaygroundSearch,
  session: string,
): PlaygroundSearch => ({ ...kept, session });

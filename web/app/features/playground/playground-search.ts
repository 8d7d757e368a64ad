/** Search parameters of the model playground. */
export interface PlaygroundSearch {
  /** Id of the shown session. */
  session?: string;
  /** Id of a text from another page. */
  draft?: string;
  /** Slug of a shared session whose question is filled in. */
  slug?: string;
  /** Whether the history only shows shared sessions. */
  shared?: boolean;
  /** The text to search the history for. */
  q?: string;
}

const text = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** Reads the search parameters; drops invalid ones. */
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

/** The parameters for another session, without those that fill in a question. */
export const searchOfSession = (
  { draft: _draft, slug: _slug, ...kept }: PlaygroundSearch,
  session: string,
): PlaygroundSearch => ({ ...kept, session });

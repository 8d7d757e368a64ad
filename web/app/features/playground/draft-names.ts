interface DraftOrigin {
  /** The session whose question is repeated. */
  session?: string;
  /** Id of a text from another page. */
  draft?: string;
  /** Slug of a shared session. */
  slug?: string;
}

/** The name of a question's draft: one per session that is repeated, and per text from another page. */
export function playgroundDraft({ session, draft, slug }: DraftOrigin): string {
  if (session) return `playground after ${session}`;
  if (draft) return `playground with ${draft}`;
  return slug ? `playground from ${slug}` : 'playground';
}

const ID_BYTES = 8;

/** An id for a text that another page leaves for the playground. */
export const newDraftId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(ID_BYTES)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');

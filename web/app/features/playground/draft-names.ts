interface DraftOrigin {
  /** The session that the question begins with. */
  session?: string;
  /** A text that another page has left. */
  draft?: string;
  /** Slug of a shared session. */
  slug?: string;
}

/** Names the draft of a question: one for each session that it begins with, and for each text that another page has left. */
export function playgroundDraft({ session, draft, slug }: DraftOrigin): string {
  if (session) return `playground after ${session}`;
  if (draft) return `playground with ${draft}`;
  return slug ? `playground from ${slug}` : 'playground';
}

const ID_BYTES = 8;

/** Names a text that is left for the playground. */
export const newDraftId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(ID_BYTES)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');

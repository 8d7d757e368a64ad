/** Names the draft of a question: one for each session that it begins with, and for each text that another page has left. */
export const playgroundDraft = ({ session, draft }: { session?: string; draft?: string }): string =>
  session ? `playground after ${session}` : draft ? `playground with ${draft}` : 'playground';

const ID_BYTES = 8;

/** Names a text that is left for the playground. */
export const newDraftId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(ID_BYTES)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');

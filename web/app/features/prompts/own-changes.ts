/** Revisions that changes of this page have made, by prompt. */
const made = new Map<string, number>();

interface Revised {
  id: string;
  revision: number;
}

/**
 * The revision that the next change of a prompt is based on. The page reads a prompt again after each of its changes, and until
 * then shows the one before: whoever is quick would hear that somebody else has changed it.
 */
export const currentRevision = ({ id, revision }: Revised): number => Math.max(revision, made.get(id) ?? 0);

/** Notes a change of this page. If somebody else has changed the prompt in between, the page doesn't know of that yet. */
export function noteChange({ id, revision }: Revised, basedOn: number): void {
  if (revision === basedOn + 1) made.set(id, revision);
}

/** By prompt: the revision after the latest change made on this page. */
const made = new Map<string, number>();

interface Revised {
  id: string;
  revision: number;
}

/**
 * The revision that the next change of a prompt is based on. After a change, the page still has the previous revision until it has
 * loaded the prompt again. A second change in that time would be refused as if somebody else had changed the prompt.
 */
export const currentRevision = ({ id, revision }: Revised): number => Math.max(revision, made.get(id) ?? 0);

/** Records a change made on this page, unless somebody else's change came in between: the page has not shown that one yet. */
export function noteChange({ id, revision }: Revised, basedOn: number): void {
  if (revision === basedOn + 1) made.set(id, revision);
}

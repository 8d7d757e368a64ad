import { useDraft } from './draft';

/** Names the draft of what an edit is based on. */
export const baseDraft = (field: string): string => `base of ${field}`;

interface EditBase {
  /** What the edit began with; what is there now while nothing is edited. */
  base: string;
  /** It was changed elsewhere since: in another tab, by another person, by a program. */
  isOld: boolean;
  /** With every change of the draft: the first one notes what it is based on. */
  begin(): void;
  /** What is there now has been seen: the edit goes on from that. */
  keep(): void;
  forget(): void;
}

/**
 * What an edit is based on, so that nothing that was changed elsewhere is replaced unseen. It is kept as long as the draft.
 * @param now what is there now, as a text.
 */
export function useEditBase(
  field: string,
  now: string,
  { isEditing, isOfTab = false }: { isEditing: boolean; isOfTab?: boolean },
): EditBase {
  const [stored, store, forget] = useDraft(baseDraft(field), { isOfTab });
  const base = (isEditing ? stored : undefined) ?? now;
  return {
    base,
    isOld: base !== now,
    begin: () => {
      if (!isEditing || stored === undefined) store(now);
    },
    keep: () => store(now),
    forget,
  };
}

import { useDraft } from './draft';

/** The name of the draft that holds the base of an edit. */
export const baseDraft = (field: string): string => `base of ${field}`;

interface EditBase {
  /** The value that the edit began with; the current value while nothing is edited. */
  base: string;
  /** The value was changed elsewhere since: in another tab, by another person or by a program. */
  isOld: boolean;
  /** Called with every change of the draft. The first call stores the base. */
  begin(): void;
  /** The user has seen the current value, which becomes the base. */
  keep(): void;
  forget(): void;
}

/**
 * The base of an edit, so that a change made elsewhere is never replaced unseen. Kept as long as the draft.
 * @param now the current value, as a string.
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

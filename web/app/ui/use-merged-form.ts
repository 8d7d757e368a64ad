import { useRef, useState } from 'react';
import { useFormDraft } from './form-draft';
import { merged } from './merged';

/** The typed form, and its base. */
interface Edit<Form> {
  base: Form;
  own: Form;
}

interface MergedForm<Form> {
  form: Form;
  /** The base of the changes. */
  base: Form;
  /** The form has unsaved changes. */
  isEdited: boolean;
  change(form: Form): void;
  /** Discards all changes. */
  forget(): void;
  /** Fields that were changed here and elsewhere. Nothing may be saved until the user chooses. */
  conflicts: (keyof Form)[];
  /** Chooses the typed values. */
  keep(): void;
  /** Chooses the current values, and discards the typed ones in those fields. */
  discard(): void;
  /** The form was saved, and `stored` is the current value. Text that was typed meanwhile stays. */
  saved(sent: Form, stored: Form): void;
}

/**
 * A form for an object that may be changed elsewhere meanwhile. Changes made there are taken over in untouched fields. The form is
 * kept as a draft.
 * @param field name of the draft.
 * @param now the current value, from the latest answer.
 * @param from reads a stored form; undefined if an earlier build has stored another shape.
 */
export function useMergedForm<Form extends object>(
  field: string,
  now: Form,
  from: (stored: unknown) => Form | undefined,
): MergedForm<Form> {
  const [edit, store, forget] = useFormDraft(field, (stored) => editOf(stored, from));
  const [unread, setUnread] = useState<{ stored: Form; replaced: string }>();
  // The saved value, though the page may not have loaded it yet.
  const latest = unread?.replaced === JSON.stringify(now) ? unread.stored : now;
  const { base, own } = edit ?? { base: latest, own: latest };
  const { form, conflicts } = merged(base, own, latest);
  const isOld = conflicts.length > 0;
  const typed = useRef(form);
  typed.current = form;
  const next = (changed: Edit<Form>): void => {
    if (latest === now) setUnread(undefined);
    store(changed);
  };
  return {
    form,
    base: isOld ? base : latest,
    isEdited: edit !== undefined,
    change: (changed) => next({ base: isOld ? base : latest, own: changed }),
    forget,
    conflicts,
    keep: () => next({ base: latest, own: form }),
    discard: () => {
      const theirs = Object.fromEntries(conflicts.map((name) => [name, latest[name]]));
      next({ base: latest, own: { ...form, ...theirs } });
    },
    saved: (sent, stored) => {
      setUnread({ stored, replaced: JSON.stringify(now) });
      const rest = typedSince(sent, typed.current, stored);
      if (rest) store(rest);
      else forget();
    },
  };
}

/** The changes that were typed after a form was sent, as an edit of the stored value; undefined if there are no changes. */
export function typedSince<Form extends object>(
  sent: Form,
  typed: Form,
  stored: Form,
): Edit<Form> | undefined {
  const { form } = merged(sent, typed, stored);
  return JSON.stringify(form) === JSON.stringify(stored) ? undefined : { base: stored, own: form };
}

function editOf<Form>(stored: unknown, from: (stored: unknown) => Form | undefined): Edit<Form> | undefined {
  const { base, own } = stored as Partial<Edit<unknown>>;
  const [first, last] = [from(base), from(own)];
  return first && last && { base: first, own: last };
}

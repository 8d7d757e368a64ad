import { useRef, useState } from 'react';
import { useFormDraft } from './form-draft';
import { merged } from './merged';

/** What was typed, and what it is based on. */
interface Edit<Form> {
  base: Form;
  own: Form;
}

interface MergedForm<Form> {
  form: Form;
  /** What the changes of the form are based on. */
  base: Form;
  /** Something was typed that is not saved. */
  isEdited: boolean;
  change(form: Form): void;
  /** Gives up everything that was typed. */
  forget(): void;
  /** Fields that were changed here and elsewhere: until somebody chooses, nothing is to be saved. */
  conflicts: (keyof Form)[];
  /** Chooses what was typed here. */
  keep(): void;
  /** Chooses what is there now, and gives up what was typed in those fields. */
  discard(): void;
  /** The form was saved as it was sent, and `stored` is there now. What was typed meanwhile stays. */
  saved(sent: Form, stored: Form): void;
}

/**
 * A form over something that may be changed elsewhere meanwhile. What is changed there in fields that nobody touched here is
 * taken over. What was typed is a draft.
 * @param field names the draft.
 * @param now what is there now, as of the latest answer.
 * @param from makes a form of a stored one, or gives undefined where an earlier build has stored something else.
 */
export function useMergedForm<Form extends object>(
  field: string,
  now: Form,
  from: (stored: unknown) => Form | undefined,
): MergedForm<Form> {
  const [edit, store, forget] = useFormDraft(field, (stored) => editOf(stored, from));
  const [unread, setUnread] = useState<{ stored: Form; replaced: string }>();
  // What was just saved is there, though the page may not have read it yet.
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

/** What was typed after a form was sent, as an edit of what is stored now; undefined if nothing was. */
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

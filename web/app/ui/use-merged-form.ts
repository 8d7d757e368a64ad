import { useState } from 'react';
import { merged } from './merged';

interface MergedForm<Form> {
  form: Form;
  /** What the changes of the form are based on. */
  base: Form;
  change(form: Form): void;
  /** Fields that were changed here and elsewhere: until somebody chooses, nothing is to be saved. */
  conflicts: (keyof Form)[];
  /** Chooses what was typed here. */
  keep(): void;
  /** Chooses what is there now, and gives up what was typed in those fields. */
  discard(): void;
  /** The form was saved, and this is there now. */
  saved(form: Form): void;
}

/**
 * A form over something that may be changed elsewhere meanwhile. What is changed there in fields that nobody touched here is
 * taken over.
 * @param now what is there now, as of the latest answer.
 */
export function useMergedForm<Form extends object>(now: Form): MergedForm<Form> {
  const [{ base, own, replaced }, set] = useState<State<Form>>({ base: now, own: now });
  // What was just saved is there, though the page may not have read it yet.
  const latest = replaced !== undefined && replaced === JSON.stringify(now) ? base : now;
  const { form, conflicts } = merged(base, own, latest);
  const isOld = conflicts.length > 0;
  const next = (state: State<Form>): void => set(latest === now ? state : { ...state, replaced });
  return {
    form,
    base: isOld ? base : latest,
    change: (changed) => next({ base: isOld ? base : latest, own: changed }),
    conflicts,
    keep: () => next({ base: latest, own: form }),
    discard: () => {
      const theirs = Object.fromEntries(conflicts.map((field) => [field, latest[field]]));
      next({ base: latest, own: { ...form, ...theirs } });
    },
    saved: (stored) => set({ base: stored, own: stored, replaced: JSON.stringify(now) }),
  };
}

interface State<Form> {
  base: Form;
  own: Form;
  /** What was there before the last save, as JSON: an answer that still says so is older than that. */
  replaced?: string | undefined;
}

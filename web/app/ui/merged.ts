/** The result of an edit whose base was changed elsewhere. */
export interface Merged<Form> {
  /** The current values with the changes of the edit. */
  form: Form;
  /** Fields that both have changed to different values. The form has those of the edit. */
  conflicts: (keyof Form)[];
}

/** Merges, field by field, an edit with the changes that were made elsewhere since it began. */
export function merged<Form extends object>(base: Form, own: Form, now: Form): Merged<Form> {
  const fields = Object.keys(now) as (keyof Form)[];
  const form = { ...now };
  const conflicts: (keyof Form)[] = [];
  for (const field of fields) {
    if (own[field] === base[field]) continue;
    form[field] = own[field];
    if (now[field] !== base[field] && now[field] !== own[field]) conflicts.push(field);
  }
  return { form, conflicts };
}

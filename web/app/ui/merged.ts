/** What comes of an edit when what it began with was changed elsewhere. */
export interface Merged<Form> {
  /** What is there now, with the edit's own changes. */
  form: Form;
  /** Fields that both have changed, to different values. The edit's are in the form. */
  conflicts: (keyof Form)[];
}

/** Puts together, field by field, what an edit has changed and what was changed elsewhere since it began. */
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

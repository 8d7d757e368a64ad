import { useDraft } from './draft';

/**
 * The content of a form as one draft.
 * @param from reads a stored form; undefined if an earlier build has stored another shape.
 * @returns the form, undefined while nothing was typed; a function that changes it; one that forgets it
 */
export function useFormDraft<Form>(
  field: string,
  from: (stored: unknown) => Form | undefined,
): [form: Form | undefined, change: (form: Form) => void, forget: () => void] {
  const [text, change, forget] = useDraft(field);
  return [
    text === undefined ? undefined : parsed(text, from),
    (form) => change(JSON.stringify(form)),
    forget,
  ];
}

function parsed<Form>(text: string, from: (stored: unknown) => Form | undefined): Form | undefined {
  try {
    return from(JSON.parse(text));
  } catch {
    return undefined;
  }
}

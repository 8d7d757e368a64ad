import { useDraft } from './draft';

/**
 * Everything that was typed into a form, as one draft.
 * @param from makes the form of what is stored, or gives undefined where an earlier build has stored something else.
 * @returns the form, undefined while nothing was typed; how to change it; how to forget it
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

interface Option {
  value: string;
  label: string;
}

/**
 * The options of a select including the chosen one, even if it isn't in the list (any more): otherwise the select would show its first
 * option as chosen, and that option couldn't be chosen.
 * @param label of the chosen one if the list doesn't have it.
 */
export function withChosen(options: Option[], chosen: string | undefined, label = chosen): Option[] {
  if (!chosen || options.some(({ value }) => value === chosen)) return options;
  return [...options, { value: chosen, label: label ?? chosen }];
}

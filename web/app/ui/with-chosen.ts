interface Option {
  value: string;
  label: string;
}

/**
 * Options of a select with the one that is chosen, though the list doesn't have it (any more): otherwise the select would show
 * its first option as the chosen one, and nobody could choose that.
 * @param label how the chosen one is shown if the list doesn't have it.
 */
export function withChosen(options: Option[], chosen: string | undefined, label = chosen): Option[] {
  if (!chosen || options.some(({ value }) => value === chosen)) return options;
  return [...options, { value: chosen, label: label ?? chosen }];
}

import type { ChosenRuns } from './nodes-search';

interface Run {
  id: string;
  modelPublicName: string;
}

/** The role of a run in the comparison. */
export function placeOf({ id }: Pick<Run, 'id'>, { base, other }: ChosenRuns): 'base' | 'other' | undefined {
  if (id === base) return 'base';
  return id === other ? 'other' : undefined;
}

/** Whether a run can't be compared with the base, since it measured another model. */
export const isOfAnother = ({ modelPublicName }: Run, { base, of }: ChosenRuns): boolean =>
  base !== undefined && of !== undefined && of !== modelPublicName;

/** The choice after a click on a run: first the base, then the other run. Clicking a chosen run removes it. */
export function toggled(chosen: ChosenRuns, { id, modelPublicName }: Run): ChosenRuns {
  const { base, other, ...model } = chosen;
  if (base === undefined) return { base: id, of: modelPublicName };
  if (id === other) return { ...model, base };
  if (id !== base) return { ...model, base, other: id };
  return other === undefined ? {} : { ...model, base: other };
}

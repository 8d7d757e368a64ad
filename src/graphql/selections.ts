import {
  type DocumentNode,
  type FragmentDefinitionNode,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import { documentError } from './errors.js';

/** What one document may select, with its fragments expanded. */
export const SELECTION_LIMITS = {
  /** Of one response name, or of one fragment, at one place of the response. */
  repeats: 20,
  /** At one place of the response. */
  selections: 200,
  /** In the whole document; a fragment counts at each spread. */
  expanded: 2_000,
} as const;

/**
 * Refuses documents that are small to send and slow to validate. graphql compares each pair of fields with the same
 * response name, and each pair of fragments that are spread together, so validation time grows with the square of the
 * repetition. Must run before `validate`.
 *
 * Fields that the response merges count together, wherever they are in the document. Stops at the first exceeded
 * limit, so it visits at most `expanded` selections, even if fragments spread each other in a cycle.
 * @throws GraphQLError
 */
export function refuseRepetition({ definitions }: DocumentNode): void {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const node of definitions) {
    if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node);
  }
  let expanded = 0;
  const visitPlace = (sets: readonly SelectionSetNode[]): void => {
    const place = createPlace(sets, fragments);
    for (const set of place.sets) {
      for (const selection of set.selections) {
        if (++expanded > SELECTION_LIMITS.expanded) {
          throw documentError(
            `The document selects more than ${SELECTION_LIMITS.expanded} fields and fragments after expanding its fragments. Spread them less often.`,
          );
        }
        place.add(selection);
      }
    }
    for (const nested of place.nested.values()) visitPlace(nested);
  };
  // graphql also validates each fragment by itself, even if it is never spread.
  for (const node of definitions) {
    if ('selectionSet' in node) visitPlace([node.selectionSet]);
  }
}

/** Everything selected at one place of the response. */
interface Place {
  /** Extended by the fragments that `add` finds. */
  sets: SelectionSetNode[];
  /** Response name → selections below it. */
  nested: Map<string, SelectionSetNode[]>;
  add(selection: SelectionNode): void;
}

function createPlace(
  sets: readonly SelectionSetNode[],
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): Place {
  const fields = new Map<string, number>();
  const spreads = new Map<string, number>();
  let selections = 0;
  const place: Place = {
    sets: [...sets],
    nested: new Map(),
    add(selection) {
      if (++selections > SELECTION_LIMITS.selections) {
        throw documentError(
          `More than ${SELECTION_LIMITS.selections} fields and fragments are selected in one place.`,
        );
      }
      if (selection.kind === Kind.INLINE_FRAGMENT) {
        place.sets.push(selection.selectionSet);
      } else if (selection.kind === Kind.FRAGMENT_SPREAD) {
        const { value } = selection.name;
        const fragment = fragments.get(value);
        // A second spread adds nothing to the response, but graphql still checks it.
        if (count(spreads, value) === 1 && fragment) place.sets.push(fragment.selectionSet);
      } else {
        const { value } = selection.alias ?? selection.name;
        count(fields, value);
        if (!selection.selectionSet) return;
        const nested = place.nested.get(value);
        if (nested) nested.push(selection.selectionSet);
        else place.nested.set(value, [selection.selectionSet]);
      }
    },
  };
  return place;
}

function count(seen: Map<string, number>, name: string): number {
  const times = (seen.get(name) ?? 0) + 1;
  if (times > SELECTION_LIMITS.repeats) {
    throw documentError(
      `The same name is selected more than ${SELECTION_LIMITS.repeats} times in one place. Select it once.`,
    );
  }
  seen.set(name, times);
  return times;
}

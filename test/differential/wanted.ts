import type { Difference } from './compare.js';

/** A difference that is meant: where it occurs, and the sentence that asks for it. */
export interface Wanted {
  requests: RegExp;
  part: RegExp;
  /** How the new value reads; every one unless given. */
  now?: RegExp;
  sentence: string;
}

/** Every difference between the baseline and this checkout that is wanted. One that no longer occurs fails the run, too. */
export const WANTED: readonly Wanted[] = [];

export const isWanted = ({ requests, part, now }: Wanted, difference: Difference): boolean =>
  requests.test(difference.id) &&
  part.test(difference.part) &&
  (now === undefined || now.test(difference.now ?? ''));

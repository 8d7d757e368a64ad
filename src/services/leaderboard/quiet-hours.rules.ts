import { dayStart } from '../../lib/clock.js';

/** An hour in which too few accounts called a model for that hour's figures to be public. */
export interface QuietHour {
  model: string;
  hour_ms: number;
  accounts: readonly string[];
}

/** The hours of each model that public figures leave out. */
export type WithheldHours = readonly Pick<QuietHour, 'model' | 'hour_ms'>[];

/**
 * Decides which quiet hours public figures leave out. Quiet hours of a UTC day count only in groups: in order, each
 * group ends when it has `leastAccounts` accounts. The rest of the day isn't counted. A group is counted as a whole
 * or not at all, and never changes once its day is over, so the difference of two windows never covers fewer
 * accounts.
 * @param from First hour of the window, in milliseconds: a group that begins before it is left out. `quiet` has that
 * whole day.
 */
export function withheldHours(
  quiet: readonly QuietHour[],
  leastAccounts: number,
  from: number,
): WithheldHours {
  const withheld: QuietHour[] = [];
  const ofDay = Map.groupBy(quiet, ({ model, hour_ms }) => `${dayStart(hour_ms)} ${model}`);
  for (const hours of ofDay.values()) {
    let group: QuietHour[] = [];
    for (const hour of hours.toSorted((a, b) => a.hour_ms - b.hour_ms)) {
      group.push(hour);
      if (new Set(group.flatMap(({ accounts }) => accounts)).size < leastAccounts) continue;
      if (group[0]!.hour_ms < from) withheld.push(...group);
      group = [];
    }
    withheld.push(...group);
  }
  return withheld.map(({ model, hour_ms }) => ({ model, hour_ms }));
}

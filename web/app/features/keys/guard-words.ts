import type { KeyRowFragment } from '../../../generated/graphql';

type Guard = NonNullable<KeyRowFragment['guard']>;

/** What a guard does, and when. */
export function guardText({ atPct, action, modelPublicName }: Guard): string {
  const at = `At ${atPct}% of the monthly limit, `;
  if (action === 'DISABLE') return `${at}calls are rejected.`;
  if (action === 'SLOW') return `${at}calls are slowed down to a tenth of your plan’s requests per minute.`;
  return `${at}calls run on ${modelPublicName}.`;
}

/** What an acting guard does to the calls of its key. */
export function actingText({ atPct, action, modelPublicName }: Guard): string {
  const reached = `The key reached ${atPct}% of its monthly limit, and its guard`;
  if (action === 'DISABLE') return `${reached} stopped it: calls fail with 402 key_guard_reached.`;
  if (action === 'SLOW') return `${reached} slowed it down to a tenth of your plan’s requests per minute.`;
  return `${reached} moved its calls to ${modelPublicName}.`;
}

/** The state of the guard. */
export function stateText({ guard, guardStatus, monthlyLimitUsd }: KeyRowFragment): string {
  if (!guard) return 'A guard acts once the spend of the month reaches a percentage of the monthly limit.';
  if (!monthlyLimitUsd) return 'It is off: the key has no monthly limit.';
  if (guardStatus === 'UNDONE')
    return 'You undid it. It is off until the month ends (UTC), unless you save it again.';
  return 'Its action ends with the month (UTC), or when you undo it.';
}

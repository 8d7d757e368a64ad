import type { AlertEventRowFragment } from '../../../generated/graphql';

/** A short description of an alert, with its key where that isn't clear. */
export function alertWords(
  {
    purpose,
    thresholdPct,
    keyName,
    guardAction,
    guardModelPublicName,
  }: Pick<
    AlertEventRowFragment,
    'purpose' | 'thresholdPct' | 'keyName' | 'guardAction' | 'guardModelPublicName'
  >,
  { withKey }: { withKey: boolean },
): string {
  const key = withKey && keyName ? `, ${keyName}` : '';
  if (purpose === 'LOW_BALANCE') return 'Low balance';
  if (purpose === 'TEST') return `Test${key}`;
  const done = guardAction ? `: ${guardWords(guardAction, guardModelPublicName)}` : '';
  return `${thresholdPct}% of the monthly limit${key}${done}`;
}

function guardWords(
  action: NonNullable<AlertEventRowFragment['guardAction']>,
  model: string | null | undefined,
): string {
  if (action === 'DISABLE') return 'calls stopped';
  return action === 'SLOW' ? 'calls slowed down' : `calls moved to ${model}`;
}

import type { AlertEventRowFragment } from '../../../generated/graphql';

/** What an alert is about, in a few words; with its key where that isn't clear. */
export function alertWords(
  { purpose, thresholdPct, keyName }: Pick<AlertEventRowFragment, 'purpose' | 'thresholdPct' | 'keyName'>,
  { withKey }: { withKey: boolean },
): string {
  const key = withKey && keyName ? `, ${keyName}` : '';
  if (purpose === 'LOW_BALANCE') return 'Low balance';
  return purpose === 'TEST' ? `Test${key}` : `${thresholdPct}% of the month${key}`;
}

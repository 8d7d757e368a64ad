import { parseMoney } from '../../../../src/lib/money';
import type { KeyRowFragment } from '../../../generated/graphql';
import { StatusWord } from '../../ui/status-word';

/** The visible parts of a key: beginning and end. */
export const shownKey = ({ keyPrefix, lastFour }: Pick<KeyRowFragment, 'keyPrefix' | 'lastFour'>): string =>
  `${keyPrefix}…${lastFour}`;

/** The effect of an acting guard. */
const GUARDED = {
  DISABLE: { tone: 'bad', word: 'stopped by its guard' },
  SLOW: { tone: 'warn', word: 'slowed by its guard' },
  FALLBACK_MODEL: { tone: 'warn', word: 'moved by its guard' },
} as const;

/** Whether calls with a key are accepted, and if not, why. */
export function KeyStatus({ status, hasUpstream, guard, guardStatus }: KeyRowFragment) {
  if (status === 'DISABLED') return <StatusWord tone="idle">disabled</StatusWord>;
  if (!hasUpstream) return <StatusWord tone="bad">not connected</StatusWord>;
  if (guard && guardStatus === 'ACTING') {
    const { tone, word } = GUARDED[guard.action];
    return <StatusWord tone={tone}>{word}</StatusWord>;
  }
  return <StatusWord tone="good">active</StatusWord>;
}

/** What happens to calls with a key that isn't disabled, by the first check that refuses them. */
export function callsText({
  hasUpstream,
  guard,
  guardStatus,
  dailyLimitUsd,
  spendTodayUsd,
}: KeyRowFragment): string {
  if (!hasUpstream) return 'Without an upstream, calls fail with 503.';
  if (guard?.action === 'DISABLE' && guardStatus === 'ACTING') return 'The guard rejects calls with 402.';
  if (dailyLimitUsd && parseMoney(spendTodayUsd) >= parseMoney(dailyLimitUsd))
    return 'The daily cap rejects calls with 402.';
  return 'Calls with this key are accepted.';
}

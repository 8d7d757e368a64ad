import type { KeyRowFragment } from '../../../generated/graphql';
import { StatusWord } from '../../ui/status-word';

/** What may be shown of a key: both ends. */
export const shownKey = ({ keyPrefix, lastFour }: Pick<KeyRowFragment, 'keyPrefix' | 'lastFour'>): string =>
  `${keyPrefix}…${lastFour}`;

/** Whether calls with a key are taken, and if not why. */
export function KeyStatus({ status, hasUpstream }: Pick<KeyRowFragment, 'status' | 'hasUpstream'>) {
  if (status === 'DISABLED') return <StatusWord tone="idle">disabled</StatusWord>;
  if (!hasUpstream) return <StatusWord tone="bad">not connected</StatusWord>;
  return <StatusWord tone="good">active</StatusWord>;
}

import type { UserRowFragment } from '../../../generated/graphql';
import { StatusWord } from '../../ui/status-word';

/** The status of an account. */
export function StateOfUser({ user: { status } }: { user: Pick<UserRowFragment, 'status'> }) {
  if (status === 'DISABLED') return <StatusWord tone="bad">disabled</StatusWord>;
  return <StatusWord tone="good">active</StatusWord>;
}

import type { UsageRowFragment } from '../../../generated/graphql';
import { StatusWord } from '../../ui/status-word';

/** The outcome of a call. */
export function CallStatus({
  status,
  errorCode,
  httpStatus,
  clientAborted,
}: Pick<UsageRowFragment, 'status' | 'errorCode' | 'httpStatus' | 'clientAborted'>) {
  if (status === 'ERROR')
    return <StatusWord tone="bad">{`${httpStatus} ${errorCode ?? 'error'}`}</StatusWord>;
  if (clientAborted) return <StatusWord tone="warn">caller left</StatusWord>;
  return <StatusWord tone="good">success</StatusWord>;
}

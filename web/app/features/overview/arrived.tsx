import type { RefusedReasonFragment, UsageRowFragment } from '../../../generated/graphql';
import { counted, formatLatency } from '../../ui/format';
import { Money } from '../../ui/money';
import { Note } from '../../ui/note';

interface ArrivedProps {
  call: UsageRowFragment | undefined;
  /** The latest refusal. */
  refusal: RefusedReasonFragment | undefined;
}

/** Shows whether the first call has arrived, and announces it. */
export function Arrived({ call, refusal }: ArrivedProps) {
  if (refusal && (!call || (call.status === 'ERROR' && refusal.lastAt > call.createdAt))) {
    return (
      <Note tone="warn">
        A call arrived and was rejected with {refusal.httpStatus} {refusal.code}
        {refusal.modelPublicName !== null && ` for ${refusal.modelPublicName}`}. {refusal.remedy} Waiting for
        the next one.
      </Note>
    );
  }
  if (!call) {
    return <Note tone="plain">Waiting for your first call. It appears here as soon as it has finished.</Note>;
  }
  if (call.status === 'ERROR') {
    return (
      <Note tone="warn">
        A call arrived and failed with {call.httpStatus} {call.errorCode}. Failed calls are free. Waiting for
        the next one.
      </Note>
    );
  }
  return (
    <Note tone="good">
      <strong>Your first call has arrived.</strong> {call.modelPublicName} answered in{' '}
      {formatLatency(call.latencyMs)} with {counted(call.outputTokens, 'token')}, for{' '}
      <Money usd={call.costUsd} />.
    </Note>
  );
}

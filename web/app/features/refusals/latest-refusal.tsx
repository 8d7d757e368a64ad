import {
  KeyRefusedCallsDocument,
  RefusedCallsDocument,
  type RefusedReasonFragment,
} from '../../../generated/graphql';
import { useRefreshOnRefused } from '../../graphql/live-account';
import { usePageQuery } from '../../graphql/use-page-query';
import { formatCount } from '../../ui/format';
import { Moment } from '../../ui/moment';
import { Note } from '../../ui/note';
import classes from './refusals.module.css';

/** Short, since the user has just made a call. */
const WAITING_MS = 250;
const REFRESH_MS = 2_000;

/** The reason of today's latest refusal; undefined without one. */
export function useLatestRefusal(): RefusedReasonFragment | undefined {
  const { data, refresh } = usePageQuery({ query: RefusedCallsDocument, variables: { window: 1 } });
  useRefreshOnRefused(refresh, WAITING_MS);
  return data?.viewer?.refusedCalls.reasons[0];
}

/** Shows today's latest refusal at the top of a key's page. */
export function LatestRefusalOfKey({ keyId }: { keyId: string }) {
  const { data, refresh } = usePageQuery({
    query: KeyRefusedCallsDocument,
    variables: { id: keyId, window: 1 },
  });
  useRefreshOnRefused(refresh, REFRESH_MS);
  const refused = data?.viewer?.apiKey?.refusedCalls;
  const latest = refused?.reasons[0];
  if (!refused || !latest) return null;
  const calls = refused.totalCalls === 1 ? '1 call was' : `${formatCount(refused.totalCalls)} calls were`;
  return (
    <div className={classes.note}>
      <Note tone="warn">
        {calls} rejected today (UTC), the latest with {latest.httpStatus} {latest.code}{' '}
        <Moment at={latest.lastAt} ago />. {latest.remedy}
      </Note>
    </div>
  );
}

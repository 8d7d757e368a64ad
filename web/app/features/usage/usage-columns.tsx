import type { UsageRowFragment } from '../../../generated/graphql';
import type { Column } from '../../ui/data-table';
import { formatCount, formatLatency } from '../../ui/format';
import { Moment } from '../../ui/moment';
import { Money } from '../../ui/money';
import { StatusWord } from '../../ui/status-word';
import classes from './usage.module.css';

function Status({ status, errorCode, httpStatus, clientAborted }: UsageRowFragment) {
  if (status === 'ERROR')
    return <StatusWord tone="bad">{`${httpStatus} ${errorCode ?? 'error'}`}</StatusWord>;
  if (clientAborted) return <StatusWord tone="warn">caller left</StatusWord>;
  return <StatusWord tone="good">success</StatusWord>;
}

/** The model that served, and the one that was asked for where it is another. */
function ServedModel({ modelPublicName, requestedModel }: UsageRowFragment) {
  return (
    <span className={classes.model}>
      {modelPublicName}
      {requestedModel !== modelPublicName && <span className={classes.asked}>for {requestedModel}</span>}
    </span>
  );
}

function KeyName({ apiKey, keyId }: UsageRowFragment) {
  const name = apiKey?.name ?? (keyId === null ? 'none' : 'deleted');
  return (
    <span className={classes.key} title={name}>
      {name}
    </span>
  );
}

function TokensOut({ outputTokens, estimated }: UsageRowFragment) {
  return (
    <>
      {estimated && <abbr title="Estimated: the model reported no tokens that make sense">≈ </abbr>}
      {formatCount(outputTokens)}
    </>
  );
}

/** Of the request log, wherever it stands. */
export const usageColumns: readonly Column<UsageRowFragment>[] = [
  { id: 'time', head: 'Time', cell: ({ createdAt }) => <Moment at={createdAt} /> },
  { id: 'status', head: 'Status', cell: Status },
  { id: 'model', head: 'Served by', cell: ServedModel },
  { id: 'key', head: 'Key', cell: KeyName },
  { id: 'in', head: 'Tokens in', figure: true, cell: ({ inputTokens }) => formatCount(inputTokens) },
  { id: 'out', head: 'Tokens out', figure: true, cell: TokensOut },
  { id: 'latency', head: 'Latency', figure: true, cell: ({ latencyMs }) => formatLatency(latencyMs) },
  { id: 'cost', head: 'Cost', figure: true, cell: ({ costUsd }) => <Money usd={costUsd} /> },
];

import { Link } from '@tanstack/react-router';
import { use } from 'react';
import type { UsageRowFragment } from '../../../generated/graphql';
import { paths } from '../../paths';
import type { Column } from '../../ui/data-table';
import { formatCount, formatLatency } from '../../ui/format';
import { Moment } from '../../ui/moment';
import { SimulatedMark, SimulatedModels } from '../../ui/simulated';
import { CallStatus } from './call-status';
import classes from './usage.module.css';
import { WidgetLink } from './widget-link';

/**
 * The model that served the call, and the requested one if it differs. Names aren't cut off, since they often differ at the end.
 */
function ServedModel({ modelPublicName, requestedModel }: UsageRowFragment) {
  const isSimulated = use(SimulatedModels).includes(modelPublicName);
  const isOther = requestedModel !== modelPublicName;
  return (
    <span className={classes.model}>
      {modelPublicName}
      <span className={classes.about}>
        <SimulatedMark model={modelPublicName} />
        {isOther && `${isSimulated ? ', ' : ''}for ${requestedModel}`}
      </span>
    </span>
  );
}

/** The name of the key or widget that made a call. */
const callerName = ({ apiKey, widgetId, widget }: UsageRowFragment): string => {
  if (widgetId === null) return apiKey?.name ?? 'deleted';
  return widget ? `Widget ${widget.name}` : 'Widget, deleted';
};

/** The same, linked to the widget. */
function Caller(call: UsageRowFragment) {
  if (call.widgetId === null) return callerName(call);
  return (
    <>
      <WidgetLink widget={call.widget} />
      <span className={classes.about}>widget</span>
    </>
  );
}

function TokensOut({ outputTokens, estimated }: UsageRowFragment) {
  return (
    <>
      {estimated && <abbr title="Estimated: the model reported no plausible token counts">≈ </abbr>}
      {formatCount(outputTokens)}
    </>
  );
}

/** The time of a call, linked to its details, which the usage page opens beside the list. */
function Time({ id, createdAt }: UsageRowFragment) {
  return (
    <Link
      to={paths.usage}
      search={(before) => ({ ...before, call: id })}
      resetScroll={false}
      className={classes.time}
      title="Show this call"
    >
      <Moment at={createdAt} />
    </Link>
  );
}

/** The columns of every list of calls. */
export const usageColumns: readonly Column<UsageRowFragment>[] = [
  { id: 'time', head: 'Time (local)', cell: Time, phone: 12 },
  { id: 'status', head: 'Status', cell: CallStatus, phone: 2 },
  {
    id: 'model',
    head: 'Served by',
    cell: ServedModel,
    whole: ({ modelPublicName }) => modelPublicName,
    roomy: true,
    phone: 11,
  },
  { id: 'key', head: 'Key', cell: Caller, whole: callerName, narrow: true },
  { id: 'in', head: 'Tokens in', figure: true, cell: ({ inputTokens }) => formatCount(inputTokens) },
  { id: 'out', head: 'Tokens out', figure: true, cell: TokensOut },
  {
    id: 'latency',
    head: 'Latency',
    figure: true,
    cell: ({ latencyMs }) => formatLatency(latencyMs),
    phone: 3,
  },
  { id: 'cost', head: 'Cost', usd: ({ costUsd }) => costUsd, phone: 1 },
];

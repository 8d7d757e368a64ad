import '../../ui/modal-styles';
import '@mantine/core/styles/Drawer.css';
import { Drawer } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import {
  RejectedCallDocument,
  UsageReceiptDocument,
  type UsageReceiptQuery,
} from '../../../generated/graphql';
import { usePageQuery } from '../../graphql/use-page-query';
import { paths } from '../../paths';
import { CopyButton } from '../../ui/copy-button';
import { formatCount, formatLatency, formatUtc } from '../../ui/format';
import { LoadError } from '../../ui/load-error';
import { Moment } from '../../ui/moment';
import { Money } from '../../ui/money';
import { NO_BANNER } from '../../ui/no-banner';
import { SimulatedMark } from '../../ui/simulated';
import { Waiting } from '../../ui/waiting';
import classes from './call-drawer.module.css';
import { CallStatus } from './call-status';
import { receiptJson } from './receipt-json';
import { verified } from './verify.rules';
import { WidgetLink } from './widget-link';

type Receipt = NonNullable<NonNullable<UsageReceiptQuery['viewer']>['usageReceipt']>;

interface CallDrawerProps {
  /** The request id of the call. */
  id: string;
  onClose(): void;
}

/** All details of a call, beside the list. */
export default function CallDrawer({ id, onClose }: CallDrawerProps) {
  const { data, error, awaiting, refresh } = usePageQuery({ query: UsageReceiptDocument, variables: { id } });
  const gone = error?.code === 'not_found';
  const receipt = awaiting ? undefined : data?.viewer?.usageReceipt;
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size={480}
      padding={24}
      title="Call"
      transitionProps={{ duration: 0 }}
      classNames={{ title: classes.title! }}
      attributes={NO_BANNER}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {gone && <Rejected id={id} />}
      {error && !gone && <LoadError error={error} onRetry={refresh} />}
      {!receipt && !error && <Waiting height={240} />}
      {receipt && !gone && <Facts receipt={receipt} />}
    </Drawer>
  );
}

/** A call without a receipt: rejected before it reached a model, or of another account. */
function Rejected({ id }: { id: string }) {
  const { data, error, awaiting, refresh } = usePageQuery({ query: RejectedCallDocument, variables: { id } });
  const call = awaiting ? undefined : data?.viewer?.rejectedCall;
  if (error?.code === 'not_found') {
    return (
      <p>
        Your account has no call with the request ID <code className={classes.id}>{id}</code>. Calls that were
        rejected before they reached a model are kept for 30 days.
      </p>
    );
  }
  if (error) return <LoadError error={error} onRetry={refresh} />;
  if (!call) return <Waiting height={240} />;
  return (
    <FactList
      facts={[
        [
          'Request ID',
          <code key="id" className={classes.id}>
            {call.id}
          </code>,
        ],
        ['Status', 'rejected before it reached a model'],
        ['HTTP status', call.httpStatus],
        ['Error code', call.errorCode],
        ['How to fix it', call.remedy],
        ['Began', <Moment key="time" at={call.createdAt} />],
        ['In UTC', formatUtc(new Date(call.createdAt))],
        ['Key', call.keyName ?? 'deleted'],
        ['Requested model', call.modelPublicName ?? 'unknown'],
      ]}
    />
  );
}

function FactList({ facts }: { facts: [string, ReactNode][] }) {
  return (
    <dl className={classes.facts}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Facts({ receipt }: { receipt: Receipt }) {
  const { event } = receipt;
  const none = <span className={classes.none}>none</span>;
  const usd = (amount: string | null | undefined): ReactNode => (amount ? <Money usd={amount} /> : none);
  const facts: [string, ReactNode][] = [
    [
      'Request ID',
      <code key="id" className={classes.id}>
        {event.id}
      </code>,
    ],
    ['Status', <CallStatus key="status" {...event} />],
    ['HTTP status', event.httpStatus],
    ['Error code', event.errorCode ?? none],
    ['Error message', event.errorMessage ?? none],
    ['Completed', <Moment key="time" at={event.createdAt} />],
    ['In UTC', formatUtc(new Date(event.createdAt))],
    event.widgetId === null
      ? ['Key', <KeyLink key="key" event={event} />]
      : ['Widget', <WidgetLink key="widget" widget={event.widget} />],
    ['Requested model', event.requestedModel],
    [
      'Served by',
      <span key="model">
        {event.modelPublicName}
        <SimulatedMark model={event.modelPublicName} />
      </span>,
    ],
    ['Endpoint', endpointOf(event)],
    ['Streamed', event.stream ? 'yes' : 'no'],
    ['Tokens in', formatCount(event.inputTokens)],
    ['Tokens out', formatCount(event.outputTokens)],
    ['Input price per million', usd(receipt.inputPricePerMillionUsd)],
    ['Output price per million', usd(receipt.outputPricePerMillionUsd)],
    ['Cost', <Money key="cost" usd={event.costUsd} />],
    ['Verified', <Verified key="verified" receipt={receipt} />],
    ['Time to first token', event.ttftMs == null ? none : formatLatency(event.ttftMs)],
    ['Latency', formatLatency(event.latencyMs)],
    ['Prompt version', event.promptVersionId ?? none],
    ['Flags', flagsOf(event).join(', ') || none],
    ['Balance before', usd(receipt.balanceBeforeUsd)],
    ['Balance after', usd(receipt.balanceAfterUsd)],
  ];
  return (
    <>
      <FactList facts={facts} />
      <CopyButton text={receiptJson(receipt)} what="as JSON" />
    </>
  );
}

/** The endpoint of a call. Chats are recorded the same way for all endpoints. */
function endpointOf({ endpoint, widgetId }: Receipt['event']): string {
  if (widgetId !== null) return 'widget chat';
  return endpoint === 'CHAT' ? '/v1/chat/completions or /v1/responses' : '/v1/embeddings';
}

/** Computes the cost again, in the page, from the tokens and prices of the receipt. */
function Verified({ receipt }: { receipt: Receipt }) {
  const { computedUsd, steps, agrees } = verified(receipt);
  return (
    <span className={agrees ? undefined : classes.differs}>
      {steps} = <Money usd={computedUsd} />
      {agrees ? ', equal to the charge' : ', not equal to the charge. Please tell the operator.'}
    </span>
  );
}

function KeyLink({ event: { apiKey } }: { event: Receipt['event'] }) {
  if (!apiKey) return 'deleted';
  return (
    <Link to={paths.key} params={{ keyId: apiKey.id }}>
      {apiKey.name}
    </Link>
  );
}

const flagsOf = ({ clientAborted, estimated, anomalous }: Receipt['event']): string[] => [
  ...(clientAborted ? ['the client disconnected early'] : []),
  ...(estimated ? ['tokens were estimated'] : []),
  ...(anomalous ? ['tokens exceed the model’s context'] : []),
];

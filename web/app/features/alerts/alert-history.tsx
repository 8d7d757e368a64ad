import { Button } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { type AlertEventRowFragment, RedeliverAlertDocument } from '../../../generated/graphql';
import { useRefreshOnAlerts } from '../../graphql/live-alerts';
import { useAction } from '../../graphql/use-action';
import { type Column, DataTable } from '../../ui/data-table';
import { ErrorNote } from '../../ui/error-note';
import { Moment } from '../../ui/moment';
import { Note } from '../../ui/note';
import { StatusWord } from '../../ui/status-word';
import { Unseen } from '../../ui/unseen';
import { alertWords } from './alert-words';
import classes from './alerts.module.css';

interface AlertHistoryProps {
  events: readonly AlertEventRowFragment[] | undefined;
  /** Whether to show the key, which is the same for all events of a key's page. */
  withKey?: boolean;
  empty: string;
  refresh(): void;
}

const TONES = { SENT: 'good', FAILED: 'bad', DEGRADED: 'warn', PENDING: 'idle' } as const;
/** One call may reach many percentages of many subscriptions. */
const REFRESH_MS = 1_000;
/** Deliveries end within seconds, but without a live event. */
const PENDING_MS = 1_500;

/** The alerts that were sent, with the outcome of each delivery. */
export function AlertHistory({ events, withKey = false, empty, refresh }: AlertHistoryProps) {
  const { run, error, sending } = useAction(RedeliverAlertDocument);
  const latest = useRef(refresh);
  latest.current = refresh;
  useRefreshOnAlerts(() => latest.current(), REFRESH_MS);
  const pending = events?.some(({ deliveryStatus }) => deliveryStatus === 'PENDING') ?? false;
  useEffect(() => {
    if (!pending) return;
    const timer = setInterval(() => latest.current(), PENDING_MS);
    return () => clearInterval(timer);
  }, [pending]);
  const redeliver = (id: string): void => void run({ input: { eventId: id } });
  return (
    <>
      {error && <ErrorNote error={error} />}
      {events?.some(({ deliveryStatus }) => deliveryStatus === 'DEGRADED') && (
        <Note tone="warn">Degraded: the alert was recorded but not emailed. Its row gives the reason.</Note>
      )}
      <DataTable
        label="Alert history"
        columns={columnsOf(withKey, sending, redeliver)}
        rows={events}
        keyOf={({ id }) => id}
        empty={empty}
      />
    </>
  );
}

function columnsOf(
  withKey: boolean,
  sending: boolean,
  redeliver: (id: string) => void,
): readonly Column<AlertEventRowFragment>[] {
  return [
    {
      id: 'what',
      head: 'What',
      phone: 1,
      cell: (event) => <span className={classes.what}>{alertWords(event, { withKey })}</span>,
    },
    {
      id: 'status',
      head: 'Delivery',
      phone: 11,
      cell: ({ deliveryStatus, responseCode, errorMessage }) => (
        <>
          <StatusWord tone={TONES[deliveryStatus]}>{deliveryStatus.toLowerCase()}</StatusWord>
          {responseCode && <span className={classes.code}>{responseCode}</span>}
          {errorMessage && <span className={classes.error}>{errorMessage}</span>}
        </>
      ),
    },
    { id: 'time', head: 'Time', phone: 2, cell: ({ firedAt }) => <Moment at={firedAt} /> },
    {
      id: 'to',
      head: 'To',
      whole: ({ destination }) => destination,
      phone: 12,
      cell: ({ destination }) => destination,
    },
    {
      id: 'again',
      head: 'Actions',
      actions: true,
      phone: 13,
      cell: (event) =>
        event.deliveryStatus !== 'PENDING' && (
          <Button size="xs" variant="default" disabled={sending} onClick={() => redeliver(event.id)}>
            Redeliver
            <Unseen>
              {' '}
              {alertWords(event, { withKey })} to {event.destination}, <Moment at={event.firedAt} />
            </Unseen>
          </Button>
        ),
    },
  ];
}

import { requireViewer, type ServiceContext } from '../../context.js';
import { AppError } from '../../errors.js';
import { utcMonth } from '../../lib/clock.js';
import type { ConnectionPage, TimeConnectionInput } from '../../lib/connection-input.js';
import { newId } from '../../lib/ids.js';
import type { PageInput } from '../../lib/page-input.js';
import { uuidsOf } from '../../lib/uuid.js';
import { requireActing } from '../accounts/acting.js';
import { countRequest } from '../accounts/network-counts.store.js';
import { ownsKey } from '../keys/keys.store.js';
import { idOf, notFound } from '../not-found.js';
import {
  findAlertEvent,
  insertTestEvent,
  listAlertEvents,
  notifyAlertPending,
  pageAlertEvents,
  pageKeyAlertEvents,
  reviveEvent,
} from './alert-events.store.js';
import type { AlertEventOutput } from './alerts.outputs.js';
import { askedLimits } from './alerts.rules.js';

/** Alert events: those that fired, and deliveries that the viewer requested. */
export function createAlertEventsService() {
  return {
    /** Events of a key, newest first. @throws AppError `not_found` */
    async events(
      context: ServiceContext,
      { keyId: named, ...page }: PageInput & { keyId: string },
    ): Promise<AlertEventOutput[]> {
      const { accountId } = requireViewer(context);
      const keyId = idOf(named, 'API key');
      if (!(await ownsKey(context.em, { accountId, keyId }))) throw notFound('API key');
      return listAlertEvents(context.em, { accountId, keyId, ...page });
    },

    /** Events of the account, newest first, including those of deleted keys and of the balance. */
    async allEvents(context: ServiceContext, page: PageInput): Promise<AlertEventOutput[]> {
      return listAlertEvents(context.em, { accountId: requireViewer(context).accountId, ...page });
    },

    /** A page of the account's events by cursor. */
    async eventsPage(
      context: ServiceContext,
      input: TimeConnectionInput,
    ): Promise<ConnectionPage<AlertEventOutput>> {
      return pageAlertEvents(context.em, { accountId: requireViewer(context).accountId, ...input });
    },

    /** The same page of each of several keys. Keys that aren't the viewer's have none. */
    async keyEventsPages(
      context: ServiceContext,
      { keyIds, ...input }: TimeConnectionInput & { keyIds: readonly string[] },
    ): Promise<Map<string, ConnectionPage<AlertEventOutput>>> {
      const { accountId } = requireViewer(context);
      return pageKeyAlertEvents(context.em, { accountId, keyIds: uuidsOf(keyIds), ...input });
    },

    /**
     * Sends a test to the destination of a subscription, whether it is active or not.
     * @throws AppError `not_found`, `rate_limit_exceeded`, `unauthorized`
     */
    async sendTest(
      context: ServiceContext,
      { keyId, alertId }: { keyId: string; alertId: string },
    ): Promise<AlertEventOutput> {
      const viewer = requireViewer(context);
      const { accountId } = viewer;
      const own = { accountId, keyId: idOf(keyId, 'API key'), id: idOf(alertId, 'alert subscription') };
      const event = { eventId: newId(), month: utcMonth(context.clock.now()) };
      return context.em.transactional(async (em) => {
        // Prevents a concurrent deletion of the account, after which a new event would keep its destination.
        await requireActing(em, viewer);
        const inserted = await insertTestEvent(em, own, event);
        if (!inserted) throw notFound('alert subscription');
        return asked({ ...context, em }, accountId, event.eventId);
      });
    },

    /**
     * Delivers a finished event again: the same id, up to three new attempts, to the current destination of its
     * subscription. A pending event stays unchanged.
     * @throws AppError `not_found`, `rate_limit_exceeded`, `unauthorized`, `validation_error` when its subscription
     * is gone.
     */
    async redeliver(context: ServiceContext, input: { eventId: string }): Promise<AlertEventOutput> {
      const viewer = requireViewer(context);
      const { accountId } = viewer;
      const eventId = idOf(input.eventId, 'alert event');
      return context.em.transactional(async (em) => {
        await requireActing(em, viewer);
        const event = await findAlertEvent(em, { accountId, id: eventId });
        if (!event) throw notFound('alert event');
        if (event.delivery_status === 'pending') return event;
        const revived = await reviveEvent(em, { accountId, id: eventId });
        if (revived) return asked({ ...context, em }, accountId, eventId);
        const now = (await findAlertEvent(em, { accountId, id: eventId }))!;
        if (now.delivery_status === 'pending') return now;
        throw new AppError('validation_error', {
          message: 'The subscription of this event was deleted, so there is no destination to deliver it to.',
          details: [{ field: 'id', message: 'is an event whose subscription was deleted' }],
        });
      });
    },
  };
}

/**
 * Queues a requested event for delivery and returns it.
 * @throws AppError `rate_limit_exceeded`
 */
async function asked(
  { em, clock }: Pick<ServiceContext, 'em' | 'clock'>,
  accountId: string,
  id: string,
): Promise<AlertEventOutput> {
  const event = (await findAlertEvent(em, { accountId, id }))!;
  const now = clock.now();
  // Counts requests, not events: one event may be redelivered many times.
  for (const { name, most, windowMs, message } of askedLimits(event.kind)) {
    const fullUntil = await countRequest(em, { name: `${name}:${accountId}`, most, windowMs }, now);
    if (fullUntil === undefined) continue;
    throw new AppError('rate_limit_exceeded', { message, retryAfterSeconds: (fullUntil - now) / 1000 });
  }
  await notifyAlertPending(em);
  return event;
}

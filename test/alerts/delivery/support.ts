import { pino } from 'pino';
import { systemClock } from '../../../src/lib/clock.js';
import { createEgress } from '../../../src/lib/egress/egress.js';
import { newId } from '../../../src/lib/ids.js';
import { createPseudonyms } from '../../../src/services/accounts/pseudonyms.rules.js';
import { signingSecretField } from '../../../src/services/alerts/alerts.rules.js';
import type { TakenAlert } from '../../../src/services/alerts/delivery.store.js';
import type { DeliveryWorkerOptions } from '../../../src/services/alerts/delivery-worker.js';
import { type DeliveryWorker, startDeliveryWorker } from '../../../src/services/alerts/delivery-worker.js';
import type { Places, Room } from '../../../src/services/alerts/take-due.store.js';
import {
  createWebhookSender,
  type WebhookSenderOptions,
} from '../../../src/services/alerts/webhook-sender.js';
import type { TestDatabase } from '../../support/database.js';
import { TEST_SECRETS } from '../../support/secrets.js';
import { envelopes, type Subscribed } from './fixtures.js';

/** Names of recipients, and the signer of links, as a platform over another database makes them. */
export const names = createPseudonyms(Buffer.alloc(32, 'pseudonym key of the tests'));

/** So many places that nobody waits. */
export const ROOMY: Places = { total: 64, reserved: 0, perLane: 64, perAccount: 64 };

/** Places for webhooks; what isn't given is roomy. */
export const webhookPlaces = (given: Partial<Places>) => ({
  webhook: { ...ROOMY, ...given },
  email: ROOMY,
});

/** A process that delivers webhooks and has none under way. */
export const room = (places: Places, given: Partial<Room> = {}): Room => ({
  ...places,
  kind: 'webhook',
  running: [],
  shares: new Map(),
  after: '00000000-0000-0000-0000-000000000000',
  ...given,
});

/** The sender of the product, to receivers of this machine. */
export const webhookSender = (options: Partial<WebhookSenderOptions> = {}) =>
  createWebhookSender({
    egress: createEgress({ allowPrivate: true }),
    operatorSecret: TEST_SECRETS.WEBHOOK_SECRET,
    envelope: envelopes.alertSecret,
    clock: systemClock,
    ...options,
  });

/** A worker that looks often, each time with a query of its own, and waits shortly between two attempts. */
export function startWorker(
  db: Pick<TestDatabase, 'orm'>,
  options: Partial<DeliveryWorkerOptions> = {},
): DeliveryWorker {
  return startDeliveryWorker({
    em: () => db.orm.em.fork(),
    senders: { webhook: webhookSender(), email: null },
    log: pino({ level: 'silent' }),
    pollMs: 60,
    pausesMs: [50, 150],
    names,
    places: { webhook: ROOMY, email: ROOMY },
    ...options,
  });
}

/** An alert as a worker holds it. */
export const takenAlert = (to: Subscribed, given: Partial<TakenAlert> = {}): TakenAlert => ({
  id: newId(),
  token: '1',
  accountId: to.accountId,
  subscriptionId: to.subscriptionId,
  purpose: 'threshold',
  kind: to.kind,
  destination: to.destination,
  lane: '',
  keyId: to.keyId,
  keyName: 'production',
  keyPrefix: 'sk-pr-abcd…wxyz',
  thresholdPct: 80,
  billingMonth: '2026-11',
  spend: '8.123456789000',
  monthlyLimit: '10.000000000000',
  balance: null,
  guardAction: null,
  guardModel: null,
  firedAtMs: Date.UTC(2026, 10, 21),
  pendingSinceMs: Date.UTC(2026, 10, 21),
  attempts: 0,
  redeliveries: 0,
  signingSecretSealed: envelopes.alertSecret.seal(to.secret, signingSecretField(to.subscriptionId)),
  ...given,
});

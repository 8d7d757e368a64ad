import { Account } from './accounts/account.js';
import { AlertEvent } from './alerts/alert-event.js';
import { AlertMail } from './alerts/alert-mail.js';
import { AlertSubscription } from './alerts/alert-subscription.js';
import { MailRecipient } from './alerts/mail-recipient.js';
import { ThresholdFiring } from './alerts/threshold-firing.js';
import { LedgerEntry } from './billing/ledger-entry.js';
import { Model } from './billing/model.js';
import { Plan } from './billing/plan.js';
import { UsageEvent } from './billing/usage-event.js';
import { ApiKey } from './keys/api-key.js';
import { VirtualKey } from './proxy/virtual-key.js';

/** Every entity, written by hand: what isn't here doesn't exist. */
export const entities = [
  Account,
  AlertEvent,
  AlertMail,
  AlertSubscription,
  ApiKey,
  LedgerEntry,
  MailRecipient,
  Model,
  Plan,
  ThresholdFiring,
  UsageEvent,
  VirtualKey,
];

import { randomBytes } from 'node:crypto';
import { requireViewer, type ServiceContext } from '../../context.js';
import type { AlertKind } from '../../entities/alerts/alert-subscription.js';
import { AppError } from '../../errors.js';
import { openOrNothing } from '../../lib/crypto.js';
import { emailInput } from '../../lib/email-input.js';
import { ofWholeInput } from '../../lib/field-issues.js';
import { newId } from '../../lib/ids.js';
import { formatDecimal, formatMoney, type Money } from '../../lib/money.js';
import type { PageInput } from '../../lib/page-input.js';
import { uuidsOf } from '../../lib/uuid.js';
import { requireActing, writeAsViewer } from '../accounts/acting.js';
import type { ServiceDeps } from '../deps.js';
import { requireExpected } from '../expected.js';
import { ownsKey } from '../keys/keys.store.js';
import { idOf, notFound } from '../not-found.js';
import { createAlertEventsService } from './alert-events.service.js';
import { type CreateAlertInput, type LowBalanceInput, type UpdateAlertInput } from './alerts.inputs.js';
import type {
  AlertOutput,
  CreatedAlertOutput,
  LowBalanceOutput,
  SigningSecretOutput,
} from './alerts.outputs.js';
import { MAX_SUBSCRIPTIONS, signingSecretField, signingSecrets } from './alerts.rules.js';
import {
  alertKind,
  changeAlert,
  countLockedAlerts,
  deleteAlert,
  insertAlert,
  listAlerts,
  lockAlert,
  lowBalanceThreshold,
  type OwnAlert,
  setLowBalanceThreshold,
} from './alerts.store.js';

const SECRET_BYTES = 32;
/** The prefix of Standard Webhooks, which receivers' libraries expect. */
const SECRET_PREFIX = 'whsec_';

/** A subscription as a caller names it. Malformed ids count as unknown. */
interface AlertId {
  keyId: string;
  alertId: string;
}

/** Spend alerts of the viewer's keys. Subscriptions of other accounts and malformed ids are treated as not found. */
export function createAlertsService({ egress, envelopes }: Pick<ServiceDeps, 'egress' | 'envelopes'>) {
  /** @throws AppError `validation_error` for the destination. */
  const checkDestination = async (kind: AlertKind, destination: string): Promise<void> => {
    const fault =
      kind === 'webhook'
        ? await egress.checkDestination(destination)
        : emailInput.safeParse(destination).error?.issues[0]?.message;
    if (!fault) return;
    throw new AppError('validation_error', { details: [{ field: 'destination', message: fault }] });
  };

  const newSecret = () => `${SECRET_PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`;
  const sealSecrets = (id: string, secrets: string) =>
    envelopes.alertSecret.seal(secrets, signingSecretField(id));

  return {
    ...createAlertEventsService(),

    /** Newest first. @throws AppError `not_found` */
    async list(
      context: ServiceContext,
      { keyId: named, ...page }: { keyId: string } & PageInput,
    ): Promise<AlertOutput[]> {
      const { accountId } = requireViewer(context);
      const keyId = idOf(named, 'API key');
      const alerts = await listAlerts(context.em, { accountId, keyIds: [keyId], ...page });
      if (alerts.length === 0 && !(await ownsKey(context.em, { accountId, keyId }))) {
        throw notFound('API key');
      }
      return alerts;
    },

    /** Subscriptions of several keys, newest first. Keys that aren't the viewer's have none. */
    async listMany(context: ServiceContext, keyIds: readonly string[]): Promise<AlertOutput[]> {
      const { accountId } = requireViewer(context);
      return listAlerts(context.em, { accountId, keyIds: uuidsOf(keyIds) });
    },

    /**
     * Creates a subscription. The secret of a webhook is returned only here.
     * @throws AppError `not_found`, `validation_error` also when the key has the maximum number of subscriptions.
     */
    async create(
      context: ServiceContext,
      { keyId: named, ...input }: CreateAlertInput & { keyId: string },
    ): Promise<CreatedAlertOutput> {
      const { accountId } = requireViewer(context);
      const keyId = idOf(named, 'API key');
      // Before the DNS look-up, which is made only for the viewer's own keys.
      if (!(await ownsKey(context.em, { accountId, keyId }))) throw notFound('API key');
      await checkDestination(input.kind, input.destination);
      const id = newId();
      const secret = input.kind === 'webhook' ? newSecret() : null;
      const alert = await writeAsViewer(context, async (em) => {
        requireRoom(await countLockedAlerts(em, { accountId, keyId }));
        return insertAlert(em, {
          id,
          accountId,
          keyId,
          kind: input.kind,
          destination: input.destination,
          thresholdsPct: ascending(input.thresholds_pct),
          active: input.active ?? true,
          signingSecretSealed: secret && sealSecrets(id, secret),
          now: new Date(context.clock.now()),
        });
      });
      return { ...alert, signing_secret: secret };
    },

    /**
     * Changes the fields in the input.
     * @throws AppError `not_found`, `validation_error`, `changed_meanwhile`
     */
    async update(
      context: ServiceContext,
      { keyId, alertId, ...input }: UpdateAlertInput & AlertId,
    ): Promise<AlertOutput> {
      const own = ownAlert(context, { keyId, alertId });
      if (input.destination !== undefined) {
        // Outside of a transaction: nothing waits for DNS. The kind never changes.
        const kind = await alertKind(context.em, own);
        if (!kind) throw notFound('alert subscription');
        await checkDestination(kind, input.destination);
      }
      return writeAsViewer(context, async (em) => {
        const current = await lockAlert(em, own);
        if (!current) throw notFound('alert subscription');
        if (input.expected) requireExpected(columnsOf(input.expected), current);
        const changed = await changeAlert(em, own, {
          ...columnsOf(input),
          now: new Date(context.clock.now()),
        });
        if (!changed) throw notFound('alert subscription');
        return changed;
      });
    },

    /** Alert events that fired stay. @throws AppError `not_found` */
    async remove(context: ServiceContext, id: AlertId): Promise<void> {
      const own = ownAlert(context, id);
      const deleted = await writeAsViewer(context, (em) => deleteAlert(em, own));
      if (!deleted) throw notFound('alert subscription');
    },

    /**
     * Creates a new signing secret; deliveries are also signed with the previous one until the next rotation.
     * @throws AppError `not_found`, `validation_error` for email.
     */
    async rotateSecret(context: ServiceContext, id: AlertId): Promise<SigningSecretOutput> {
      const own = ownAlert(context, id);
      const secret = newSecret();
      await writeAsViewer(context, async (em) => {
        const locked = await lockAlert(em, own);
        if (!locked) throw notFound('alert subscription');
        const { signingSecretSealed: sealed } = locked;
        if (!sealed) {
          throw new AppError('validation_error', {
            message: "Email isn't signed: only webhooks have a signing secret.",
            details: [
              { field: 'alert_id', message: 'is an email subscription, which has no signing secret' },
            ],
          });
        }
        // Undefined after a lost ENCRYPTION_KEY: nothing was signed with that secret any more.
        const former = openOrNothing(envelopes.alertSecret, sealed, signingSecretField(own.id));
        locked.signingSecretSealed = sealSecrets(own.id, signingSecrets(secret, former?.toString()));
      });
      return { signing_secret: secret };
    },

    /** The viewer's low-balance threshold. */
    lowBalance,

    /**
     * Sets the threshold. If the balance is already below it, or the alert has fired, it fires again only after a
     * credit has raised the balance.
     * @throws AppError `changed_meanwhile`
     */
    async setLowBalance(
      context: ServiceContext,
      { threshold_usd, expected }: LowBalanceInput,
    ): Promise<LowBalanceOutput> {
      const viewer = requireViewer(context);
      const { accountId } = viewer;
      await context.em.transactional(async (em) => {
        await requireActing(em, viewer);
        if (expected) {
          const current = await lowBalanceThreshold(em, accountId);
          requireExpected(
            { threshold: dollarsOf(expected.threshold_usd) },
            { threshold: current ? formatDecimal(current) : null },
          );
        }
        await setLowBalanceThreshold(em, accountId, dollarsOf(threshold_usd));
      });
      return lowBalance(context);
    },
  };
}

async function lowBalance(context: ServiceContext): Promise<LowBalanceOutput> {
  const threshold = await lowBalanceThreshold(context.em, requireViewer(context).accountId);
  // The session was just valid, so the account was deleted in between.
  if (threshold === undefined) throw new AppError('unauthorized');
  return { threshold_usd: threshold && formatDecimal(threshold) };
}

const dollarsOf = (amount: Money | null): string | null => (amount === null ? null : formatMoney(amount));

/** The columns that an input changes. */
const columnsOf = ({
  destination,
  thresholds_pct: thresholds,
  active,
}: Omit<UpdateAlertInput, 'expected'>) => ({
  destination,
  thresholdsPct: thresholds && ascending(thresholds),
  active,
});

const ascending = (list: readonly number[]): number[] => [...list].sort((a, b) => a - b);

function requireRoom(alerts: number | undefined): void {
  if (alerts === undefined) throw notFound('API key');
  if (alerts < MAX_SUBSCRIPTIONS) return;
  const message = `A key has at most ${MAX_SUBSCRIPTIONS} alert subscriptions. Delete one you no longer use.`;
  throw new AppError('validation_error', { message, details: ofWholeInput(message) });
}

function ownAlert(context: ServiceContext, { keyId, alertId }: AlertId): OwnAlert {
  const { accountId } = requireViewer(context);
  return { accountId, keyId: idOf(keyId, 'API key'), id: idOf(alertId, 'alert subscription') };
}

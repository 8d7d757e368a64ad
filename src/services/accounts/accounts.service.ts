import { requireViewer, type ServiceContext, type Viewer } from '../../context.js';
import { notifyInvalidation, notifySessions } from '../../db/invalidation.js';
import type { Account } from '../../entities/accounts/account.js';
import { Prompt } from '../../entities/prompts/prompt.js';
import { AppError } from '../../errors.js';
import { ofWholeInput } from '../../lib/field-issues.js';
import { formatDecimal } from '../../lib/money.js';
import { scrubAlertEvents } from '../alerts/alert-events.store.js';
import { deleteWishes } from '../alerts/mail-links.store.js';
import type { ServiceDeps } from '../deps.js';
import { forgetBounds } from '../playground/bounds.store.js';
import { deleteSessions } from '../playground/playground.store.js';
import { deleteWidgets } from '../widgets/widgets.store.js';
import { endSessions, erase } from './account-changes.rules.js';
import { createAccount } from './account-creation.js';
import type { ChangePasswordInput, DeleteAccountInput, SignupInput } from './accounts.inputs.js';
import type { MeOutput } from './accounts.outputs.js';
import { accountView, emailKeyOf } from './accounts.rules.js';
import {
  anotherAdminStays,
  deleteKeys,
  findById,
  findByNormalizedEmail,
  lockById,
} from './accounts.store.js';
import { requireLive } from './acting.js';
import { isExempt } from './exemption.rules.js';
import { forgetNetworks } from './known-networks.store.js';
import { refuseKnownPassword } from './known-passwords.js';
import { createLoginLimits } from './login-limits.service.js';
import { createPasswordResetService, type PasswordResetService } from './password-reset.service.js';
import { forgetResets } from './password-reset.store.js';
import { createSessionsService, type OpenedSession, type SessionsService } from './sessions.service.js';
import { countSignupAttempt, limitSignups } from './signup-limits.service.js';
import { createUsersService, type UsersService } from './users.service.js';
import { findPlan } from './users.store.js';
import { removeVirtualKeys } from './virtual-key-removal.js';

const LAST_ADMIN = 'This is the last active administrator. Make another account an administrator first.';

export interface AccountsService
  extends Omit<SessionsService, 'open' | 'remember'>,
    PasswordResetService,
    UsersService {
  /** @throws AppError `email_taken`, `rate_limit_exceeded`, `service_unavailable` */
  signup(context: ServiceContext, input: SignupInput): Promise<OpenedSession>;
  /** @throws AppError `unauthorized` */
  me(context: ServiceContext): Promise<MeOutput>;
  /** Ends all other sessions. @throws AppError `unauthorized`, `invalid_credentials`, `rate_limit_exceeded` */
  changePassword(context: ServiceContext, input: ChangePasswordInput): Promise<void>;
  /**
   * Removes personal data and ends all sessions and keys. Ledger and usage stay, without name and email address.
   * @throws AppError `unauthorized`, `invalid_credentials`, `rate_limit_exceeded`, `validation_error` for the last
   * active administrator.
   */
  deleteAccount(context: ServiceContext, input: DeleteAccountInput): Promise<void>;
}

export function createAccountsService(deps: ServiceDeps): AccountsService {
  const { passwords, pseudonyms: names } = deps;
  const limits = createLoginLimits(deps);
  const { open, remember, ...sessions } = createSessionsService(deps);

  /** The viewer's account, after checking its password again. */
  const provenAccount = async (context: ServiceContext, password: string): Promise<Account> => {
    const viewer = requireViewer(context);
    const account = await findById(context.em, viewer.accountId);
    if (!account || account.email === null) throw new AppError('unauthorized');
    const right = await limits.proof(context, () => passwords.match(password, account.passwordHash));
    if (!right) throw new AppError('invalid_credentials', { message: 'The password is wrong.' });
    return account;
  };

  /** Locks the account after its password was verified. Fails if the password has changed in between. */
  const lockProven = async (em: ServiceContext['em'], viewer: Viewer, proven: Account): Promise<Account> => {
    const locked = await lockById(em, proven.id);
    if (!locked || locked.passwordHash !== proven.passwordHash) throw new AppError('unauthorized');
    await requireLive(em, viewer);
    return locked;
  };

  const makeAccount = async (context: ServiceContext, input: SignupInput): Promise<Account> => {
    // Checked first only to save hashing; the unique index decides.
    if (await findByNormalizedEmail(context.em, emailKeyOf(input.email))) throw new AppError('email_taken');
    const passwordHash = await passwords.hash(input.password);
    const networkHash = names.network(context.network);
    const account = await context.em.transactional(async (em) => {
      await limitSignups(context, em, networkHash, deps);
      const creation = {
        email: input.email,
        name: input.name,
        role: 'user' as const,
        passwordHash,
        creditMailHash: names.foldedMail(input.email),
        signupNetworkHash: networkHash,
        now: context.clock.now(),
      };
      const id = await createAccount(em, creation, deps.envelopes.dataKey);
      if (id === undefined) throw new AppError('email_taken');
      return (await findById(em, id))!;
    });
    await remember(context, account);
    return account;
  };

  return {
    ...sessions,
    ...createUsersService(),
    ...createPasswordResetService(deps, { open, remember }),
    async signup(context, input) {
      refuseKnownPassword(input.password, 'password');
      const client = { network: context.networks.at(-1)!, exempt: isExempt(context, deps.config) };
      return passwords.inTurn(client, async () => {
        await countSignupAttempt(context, deps);
        return open(context, await makeAccount(context, input));
      });
    },
    async me(context) {
      const account = await findById(context.em, requireViewer(context).accountId);
      const plan = account && (await findPlan(context.em, account.planId));
      if (!plan) throw new AppError('unauthorized');
      return {
        ...accountView(account),
        plan: {
          name: plan.id,
          monthly_price_usd: formatDecimal(plan.monthlyPriceUsd),
          included_credits_usd: formatDecimal(plan.includedCreditsUsd),
          allowed_models: plan.allowedModels,
          requests_per_minute: plan.requestsPerMinute,
        },
        balance_usd: formatDecimal(account.balance),
      };
    },
    async changePassword(context, input) {
      refuseKnownPassword(input.new_password, 'new_password');
      const account = await provenAccount(context, input.current_password);
      const passwordHash = await passwords.hash(input.new_password);
      const survivingSessionId = requireViewer(context).sessionId;
      await context.em.transactional(async (em) => {
        const locked = await lockProven(em, requireViewer(context), account);
        locked.passwordHash = passwordHash;
        endSessions(locked, survivingSessionId);
        await forgetResets(em, account.id);
        await notifySessions(em, account.id);
      });
    },
    async deleteAccount(context, input) {
      const account = await provenAccount(context, input.password);
      const gone = await context.em.transactional(async (em) => {
        const locked = await lockProven(em, requireViewer(context), account);
        if (locked.role === 'admin' && !(await anotherAdminStays(em, account.id))) {
          throw new AppError('validation_error', { message: LAST_ADMIN, details: ofWholeInput(LAST_ADMIN) });
        }
        // Before the keys, whose deletion cascades to subscriptions: deliveries also lock their event first.
        await scrubAlertEvents(em, account.id);
        const deleted = await deleteKeys(em, account.id);
        await deleteWishes(em, account.id);
        await forgetNetworks(em, account.id);
        await forgetResets(em, account.id);
        await em.nativeDelete(Prompt, { accountId: account.id });
        await deleteSessions(em, { accountId: account.id });
        await forgetBounds(em, account.id);
        await deleteWidgets(em, account.id);
        const ownKey = locked.virtualKeySealed ?? null;
        erase(locked, new Date(context.clock.now()));
        for (const key of deleted)
          await notifyInvalidation(em, { kind: 'key', id: key.id, accountId: account.id });
        await notifyInvalidation(em, { kind: 'account', id: account.id });
        await notifySessions(em, account.id);
        return { keys: deleted, ownKey };
      });
      // The rest of this request has no viewer.
      context.viewer = null;
      await removeVirtualKeys(context, { accountId: account.id, ...gone }, deps);
    },
  };
}

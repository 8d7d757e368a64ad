import type { EntityManager } from '@mikro-orm/postgresql';
import type { ServiceContext } from '../../context.js';
import { notifySessions } from '../../db/invalidation.js';
import type { Account } from '../../entities/accounts/account.js';
import { AppError } from '../../errors.js';
import { FairQueue } from '../../lib/fair/fair-queue.js';
import { createMailTransport } from '../../lib/mail-transport.js';
import type { ServiceDeps } from '../deps.js';
import { endSessions } from './account-changes.rules.js';
import type { ForgotPasswordInput, ResetPasswordInput } from './accounts.inputs.js';
import { emailKeyOf, isPlainMail, mailboxOf } from './accounts.rules.js';
import { findById, lockById, oldestOfMailbox } from './accounts.store.js';
import { isExempt } from './exemption.rules.js';
import { forgetNetworks } from './known-networks.store.js';
import { refuseKnownPassword } from './known-passwords.js';
import { countRequest } from './network-counts.store.js';
import * as rules from './password-reset.rules.js';
import { findReset, keepReset, useReset } from './password-reset.store.js';
import type { OpenedSession, SessionsService } from './sessions.service.js';

/** Emails sent at once, and how many may wait. Anybody can request them, so more are dropped. */
const AT_ONCE = 4;
const WAITING = 100;
const OWNER = '';
const ATTEMPT_MS = 8_000;
const NOT_SENT = 'a link for a new password was not sent';
const GONE = 'was already used or is older than 30 minutes; request a new one';

/** The part of the accounts service for forgotten passwords. */
export interface PasswordResetService {
  /**
   * Sends a link to the address if it has an account. The account is looked up after the response, so that neither
   * the response nor its timing reveals whether one exists.
   * @throws AppError `rate_limit_exceeded`
   */
  forgotPassword(context: ServiceContext, input: ForgotPasswordInput): Promise<void>;
  /**
   * Sets the password of the account that the link was sent to, ends all of its sessions and opens a new one.
   * @throws AppError `validation_error`, `service_unavailable`
   */
  resetPassword(context: ServiceContext, input: ResetPasswordInput): Promise<OpenedSession>;
}

export function createPasswordResetService(
  deps: ServiceDeps,
  { open, remember }: Pick<SessionsService, 'open' | 'remember'>,
): PasswordResetService {
  const { config, passwords, pseudonyms: names } = deps;
  const { mail, publicBaseUrl } = config;
  const transport = mail && createMailTransport(mail.smtpUrl, ATTEMPT_MS);
  const sending = new FairQueue({ atOnce: AT_ONCE, waitingPerOwner: WAITING });

  const mayHaveAnother = async (em: EntityManager, name: string, now: number): Promise<boolean> =>
    (await countRequest(em, { name, ...rules.LINKS_PER_ADDRESS }, now)) === undefined;

  /** Counts the request. @returns whether the address, as it is spelled, may get another email. */
  const count = (context: ServiceContext, email: string): Promise<boolean> =>
    context.em.transactional(async (em) => {
      const now = context.clock.now();
      if (!isExempt(context, config)) {
        const { most, windowMs } = rules.LINKS_PER_NETWORK;
        for (const [width, network] of context.networks.entries()) {
          const count = { name: `reset:${names.network(network)}`, most: most[width]!, windowMs };
          const fullUntil = await countRequest(em, count, now);
          if (fullUntil !== undefined) refuse(fullUntil - now);
        }
      }
      return mayHaveAnother(em, `reset-to:${names.mail(email)}`, now);
    });

  /**
   * Whether an address is counted by itself: the mailbox's own spelling, or the address of its oldest account, whose
   * owner is the mailbox's unless a stranger was first.
   */
  const isOwners = async (em: EntityManager, address: string): Promise<boolean> =>
    isPlainMail(address) || (await oldestOfMailbox(em, mailboxOf(address))) === emailKeyOf(address);

  const send = async (context: ServiceContext, email: string): Promise<void> => {
    const { token, tokenHash } = rules.newResetToken();
    const expiresAt = new Date(context.clock.now() + rules.LINK_MS);
    const reset = { emailKey: emailKeyOf(email), tokenHash, expiresAt };
    const em = context.em.fork();
    const address = await keepReset(em, reset);
    if (address === undefined) return;
    // Only addresses with an account count, and separately from the owner's: otherwise strangers could use up the
    // owner's links.
    const mailbox = `reset-to-tagged:${names.mailbox(address)}`;
    if (!(await isOwners(em, address)) && !(await mayHaveAnother(em, mailbox, context.clock.now()))) return;
    try {
      await transport!.sendMail({
        from: mail!.from,
        // An object, because a string would be parsed as a list of addresses.
        to: { name: '', address },
        headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
        ...rules.passwordResetEmail(rules.resetUrl(publicBaseUrl, token)),
        signal: AbortSignal.timeout(ATTEMPT_MS),
      });
    } catch (error) {
      // Without the mail server's message, which often repeats the address.
      const { code, responseCode } = error as { code?: unknown; responseCode?: unknown };
      context.log.warn({ code, responseCode }, NOT_SENT);
    }
  };

  const setPassword = async (
    context: ServiceContext,
    { accountId, tokenHash }: { accountId: string; tokenHash: string },
    password: string,
  ): Promise<Account> => {
    const passwordHash = await passwords.hash(password);
    await context.em.transactional(async (em) => {
      const account = await lockById(em, accountId);
      const used = await useReset(em, accountId, tokenHash);
      if (!used || account?.status !== 'active') throw gone();
      account.passwordHash = passwordHash;
      endSessions(account);
      // Anybody who knew the former password may have used it from these networks.
      await forgetNetworks(em, accountId);
      await notifySessions(em, accountId);
    });
    const account = await findById(context.em.fork(), accountId);
    if (!account || !(await remember(context, account))) throw gone();
    return account;
  };

  return {
    async forgotPassword(context, { email }) {
      const isWithin = await count(context, email);
      if (!transport || !isWithin) return;
      void sending
        .run(OWNER, () => send(context, email))
        .catch((error: unknown) => context.log.warn({ err: error }, NOT_SENT));
    },
    async resetPassword(context, { token, password }) {
      refuseKnownPassword(password, 'password');
      const tokenHash = rules.resetTokenHash(token);
      const now = new Date(context.clock.now());
      // Before hashing, so that requests without a valid link cost nothing.
      const accountId = tokenHash && (await findReset(context.em.fork(), tokenHash, now));
      if (!accountId) throw gone();
      const client = { network: context.networks.at(-1)!, exempt: isExempt(context, config) };
      return passwords.inTurn(client, async () =>
        open(context, await setPassword(context, { accountId, tokenHash }, password)),
      );
    },
  };
}

const gone = (): AppError =>
  new AppError('validation_error', {
    message: `The link ${GONE}.`,
    details: [{ field: 'token', message: GONE }],
  });

/** @throws AppError `rate_limit_exceeded` */
function refuse(waitMs: number): never {
  throw new AppError('rate_limit_exceeded', {
    message: 'Too many password reset requests from this network. Try again later.',
    retryAfterSeconds: waitMs / 1000,
  });
}

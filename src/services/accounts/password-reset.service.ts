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

/** Mails under way, and those that wait. Strangers ask: beyond that they ask in vain. */
const AT_ONCE = 4;
const WAITING = 100;
const OWNER = '';
const ATTEMPT_MS = 8_000;
const NOT_SENT = 'a link for a new password was not sent';
const GONE = 'was already used or is older than 30 minutes; request a new one';

/** The part of the accounts service for who has forgotten a password. */
export interface PasswordResetService {
  /**
   * Sends a link to the mail, if an account has it. Whether one has is looked up when the answer is on its way: neither
   * the answer nor its time tells.
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

  /** Counts who asks. @returns whether the address, as it is spelt, may have another mail. */
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
   * Whether an address has links of its own: spelt as its mailbox, or of the oldest account of it, which is its owner's unless a
   * stranger was there first.
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
    // Only what has an account counts, and apart from the owner's: else strangers could use up the owner's links.
    const mailbox = `reset-to-tagged:${names.mailbox(address)}`;
    if (!(await isOwners(em, address)) && !(await mayHaveAnother(em, mailbox, context.clock.now()))) return;
    try {
      await transport!.sendMail({
        from: mail!.from,
        // As an object: a text would be read as a list.
        to: { name: '', address },
        headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
        ...rules.resetMail(rules.resetUrl(publicBaseUrl, token)),
        signal: AbortSignal.timeout(ATTEMPT_MS),
      });
    } catch (error) {
      // Without the words of the mail server, which often repeat the address.
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
      // Whoever knew the former password may have used it there.
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
      // Before the hash: who has no link costs nothing.
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

import { requireViewer, type ServiceContext, type Viewer } from '../../context.js';
import { notifySessions } from '../../db/invalidation.js';
import type { Account } from '../../entities/accounts/account.js';
import { AppError } from '../../errors.js';
import { newId } from '../../lib/ids.js';
import { workBelongsTo } from '../../lib/work-owner.js';
import type { ServiceDeps } from '../deps.js';
import type { LoginInput } from './accounts.inputs.js';
import type { UserOutput } from './accounts.outputs.js';
import { emailKeyOf, userView } from './accounts.rules.js';
import { findByNormalizedEmail } from './accounts.store.js';
import { rememberNetwork } from './known-networks.store.js';
import { createLoginLimits } from './login-limits.service.js';
import { ABSOLUTE_LIFETIME_SECONDS, createSessionTokens, type VerifiedClaims } from './session-tokens.js';
import { endSession, findLiveSession } from './sessions.store.js';

/** A signed token and its lifetime in seconds. */
export interface SessionToken {
  token: string;
  maxAgeSeconds: number;
}

export interface OpenedSession extends SessionToken {
  user: UserOutput;
}

export interface Session {
  viewer: Viewer;
  claims: VerifiedClaims;
}

/** The part of the accounts service for logins and sessions. */
export interface SessionsService {
  /** @throws AppError `invalid_credentials`, `rate_limit_exceeded`, `service_unavailable` */
  login(context: ServiceContext, input: LoginInput): Promise<OpenedSession>;
  /**
   * Remembers the network of an account that has proven its password.
   * @returns false when the account is no longer active, or its password has changed.
   */
  remember(context: ServiceContext, account: Account): Promise<boolean>;
  /** Opens a new session after the account was authenticated. */
  open(context: ServiceContext, account: Account): Promise<OpenedSession>;
  /**
   * The session of a token; undefined when the token is forged or expired, the session has ended, or the account
   * isn't active.
   */
  authenticate(context: ServiceContext, token: string): Promise<Session | undefined>;
  /** The same session with a new lifetime, never beyond 12 hours after the log-in; undefined once it has ended. */
  renew(context: ServiceContext, session: Session): Promise<SessionToken | undefined>;
  /** Ends the viewer's session and all of its tokens, also for the rest of the request. */
  logout(context: ServiceContext): Promise<void>;
  /** Ends the session of a token if it belongs to another account than the one that has logged in. */
  endOfOther(context: ServiceContext, token: string, accountId: string): Promise<void>;
}

export function createSessionsService(deps: ServiceDeps): SessionsService {
  const { config, clock, passwords } = deps;
  const limits = createLoginLimits(deps);
  const tokens = createSessionTokens({
    secret: config.jwtSecret,
    previousSecret: config.jwtSecretPrevious,
    lifetimeSeconds: config.accessTokenTtlSeconds,
    clock,
  });

  const open = async (context: ServiceContext, account: Account): Promise<OpenedSession> => ({
    ...(await tokens.sign({
      accountId: account.id,
      sessionId: newId(),
      tokenVersion: account.tokenVersion,
      startedAt: Math.floor(context.clock.now() / 1000),
    })),
    user: userView(account),
  });

  const remember = (context: ServiceContext, account: Account): Promise<boolean> =>
    rememberNetwork(context.em, {
      accountId: account.id,
      passwordHash: account.passwordHash!,
      networkHash: deps.pseudonyms.network(context.network),
      now: new Date(context.clock.now()),
    });

  const end = async (
    context: ServiceContext,
    { accountId, sessionId }: Pick<Viewer, 'accountId' | 'sessionId'>,
  ): Promise<void> => {
    const expiresAt = new Date(context.clock.now() + ABSOLUTE_LIFETIME_SECONDS * 1000);
    await context.em.transactional(async (em) => {
      await endSession(em, sessionId, expiresAt);
      await notifySessions(em, accountId);
    });
    if (context.viewer?.sessionId === sessionId) context.viewer = null;
  };

  return {
    open,
    remember,
    async login(context, input) {
      let account: Account | null = null;
      const right = await limits.login(context, input.email, async () => {
        account = await findByNormalizedEmail(context.em, emailKeyOf(input.email));
        return passwords.match(input.password, account?.passwordHash);
      });
      if (!right || !account || !(await remember(context, account)))
        throw new AppError('invalid_credentials');
      return open(context, account);
    },
    async authenticate(context, token) {
      const claims = await tokens.verify(token);
      if (!claims) return undefined;
      const { accountId, sessionId } = claims;
      // The signature proves whose it is, so the look-up counts as that account's work.
      workBelongsTo(accountId);
      const live = await findLiveSession(context.em, claims);
      if (!live) return undefined;
      const { email, role, token_version: tokenVersion } = live;
      return {
        viewer: { accountId, sessionId, email, role, tokenVersion },
        claims: { ...claims, tokenVersion },
      };
    },
    async renew(context, { claims }) {
      const live = await findLiveSession(context.em, claims);
      return live && tokens.sign({ ...claims, tokenVersion: live.token_version });
    },
    logout: async (context) => end(context, requireViewer(context)),
    async endOfOther(context, token, accountId) {
      const former = await tokens.verify(token);
      if (former && former.accountId !== accountId) await end(context, former);
    },
  };
}

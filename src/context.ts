import type { EntityManager } from '@mikro-orm/postgresql';
import { AppError } from './errors.js';
import { type Clock, systemClock } from './lib/clock.js';
import type { Logger } from './lib/logger.js';

/** The account of a valid session. */
export interface Viewer {
  accountId: string;
  email: string;
  role: 'user' | 'admin';
  /** Id of this session; log-out ends it. */
  sessionId: string;
  /** Version of the account's sessions when this one was checked. A later version ends this session. */
  tokenVersion: number;
}

/** Session ID of an administrator on the server's command line, who has no account. */
export const COMMAND_LINE_SESSION = 'command-line';

/** The first argument of every service method. One per request or job. */
export interface ServiceContext {
  viewer: Viewer | null;
  /** A fork for this request or job. */
  em: EntityManager;
  clock: Clock;
  log: Logger;
  /** The caller's network, IPv4 /24 or IPv6 /64, for limits. */
  network: string;
  /** All networks of the caller that limits count, the narrowest first: IPv4 address and /24, or IPv6 /64, /56, /48. */
  networks: readonly string[];
  /**
   * Whether the caller connects from this machine directly, not through a proxy. Outside production, this lifts the limits
   * on sign-up, log-in and requests without a session.
   */
  loopback: boolean;
}

/** The context of a job or a command on this machine. No limit counts it. */
export const localContext = (
  { em, log, network }: Pick<ServiceContext, 'em' | 'log' | 'network'>,
  viewer: Viewer | null = null,
): ServiceContext => ({ viewer, em, clock: systemClock, log, network, networks: [network], loopback: true });

/** @throws AppError `unauthorized` for an anonymous caller. */
export function requireViewer(context: ServiceContext): Viewer {
  if (!context.viewer) throw new AppError('unauthorized');
  return context.viewer;
}

/** @throws AppError `unauthorized` for an anonymous caller, `forbidden` for anyone but an administrator. */
export function requireAdmin(context: ServiceContext): Viewer {
  const viewer = requireViewer(context);
  if (viewer.role !== 'admin') throw new AppError('forbidden');
  return viewer;
}

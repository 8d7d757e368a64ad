import type { EntityManager } from '@mikro-orm/postgresql';
import { AppError } from './errors.js';
import { type Clock, systemClock } from './lib/clock.js';
import type { Logger } from './lib/logger.js';

/** Who acts: the account of a valid session. */
export interface Viewer {
  accountId: string;
  email: string;
  role: 'user' | 'admin';
  /** Id of this session, ended by log-out. */
  sessionId: string;
  /** Version of the account's sessions when this one was checked; later versions end it. */
  tokenVersion: number;
}

/** Session ID of an administrator on the server's command line, who has no account. */
export const COMMAND_LINE_SESSION = 'command-line';

/** First argument of every service method. One per request or job. */
export interface ServiceContext {
  viewer: Viewer | null;
  /** A fork of its own. */
  em: EntityManager;
  clock: Clock;
  log: Logger;
  /** The caller's network, IPv4 /24 or IPv6 /64, for limits. */
  network: string;
  /** All networks that the caller counts in, the narrowest first: IPv4 address and /24, or IPv6 /64, /56, /48. */
  networks: readonly string[];
  /**
   * Whether the caller is on this machine, and not merely named by a proxy; outside production that lifts the limits on
   * sign-up, log-in and requests without a session.
   */
  loopback: boolean;
}

/** Of a job or a command on this machine, which counts in no limit. */
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

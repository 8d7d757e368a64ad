import type { ServiceContext } from '../context.js';
import type { Session } from '../services/accounts/sessions.service.js';
import type { Signals } from '../services/live/signals.js';
import type { Services } from '../services.js';

/** Close code when the session has ended; the client may reconnect with another token. */
export const FORBIDDEN = 4403;
/** Close code after which clients of graphql-ws don't reconnect by themselves; the dashboard does. */
const TOO_MANY = 4429;
const SOCKETS_PER_ACCOUNT = 10;

export interface HeldSocket {
  /** Token of its session. */
  token: string;
  /** Makes a new context without a viewer. */
  context(): ServiceContext;
  close(code: number, reason: string): void;
}

/** The authenticated sockets of this process. */
export interface SocketSessions {
  /**
   * Admits a socket, at most 10 per account, and closes it when its token or session ends.
   * @returns a function that releases it; undefined when it was closed instead.
   */
  admit(socket: HeldSocket, session: Session): (() => void) | undefined;
  count(): number;
  stop(): void;
}

export function createSocketSessions(
  { accounts }: Pick<Services, 'accounts'>,
  signals: Pick<Signals, 'onSessions'>,
): SocketSessions {
  const byAccount = new Map<string, Set<HeldSocket>>();

  const end = (socket: HeldSocket): void => socket.close(FORBIDDEN, 'The session has ended');

  /** If the database is unavailable, it is checked again after the reconnect, which is a signal as well. */
  const recheck = async (socket: HeldSocket): Promise<void> => {
    const session = await accounts
      .authenticate(socket.context(), socket.token)
      .catch(() => 'unknown' as const);
    if (session === undefined) end(socket);
  };

  const leaveSignals = signals.onSessions((accountId) => {
    const concerned = accountId === null ? [...byAccount.values()] : [byAccount.get(accountId) ?? []];
    for (const socket of concerned.flatMap((sockets) => [...sockets])) void recheck(socket);
  });

  return {
    admit(socket, { viewer: { accountId }, claims }) {
      const sockets = byAccount.get(accountId) ?? new Set();
      if (sockets.size >= SOCKETS_PER_ACCOUNT) {
        socket.close(TOO_MANY, `At most ${SOCKETS_PER_ACCOUNT} connections per account`);
        return undefined;
      }
      byAccount.set(accountId, sockets.add(socket));
      const leftMs = claims.expiresAt * 1000 - socket.context().clock.now();
      const expiry = setTimeout(() => end(socket), Math.max(0, leftMs)).unref();
      return () => {
        clearTimeout(expiry);
        sockets.delete(socket);
        if (sockets.size === 0 && byAccount.get(accountId) === sockets) byAccount.delete(accountId);
      };
    },
    count: () => [...byAccount.values()].reduce((sum, sockets) => sum + sockets.size, 0),
    stop: leaveSignals,
  };
}

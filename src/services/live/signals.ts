/**
 * What other processes say while it happens, for those of this process who wait for it. A signal says that there is
 * something to read, never what: it may come twice or for nothing, and after a loss it comes for everybody.
 */
export interface Signals {
  /** Calls `listener` when usage of the account may have been committed. Gives the way to stop. */
  onUsage(accountId: string, listener: () => void): () => void;
  /** Calls `listener` with the account whose sessions may have ended; null: anybody's may have. */
  onSessions(listener: (accountId: string | null) => void): () => void;
}

/** Where signals come in. */
export interface SignalBoard extends Signals {
  /** Null: of every account. */
  usageFlushed(accountIds: readonly string[] | null): void;
  sessionsChanged(accountId: string | null): void;
}

/** Brings signals to their listeners within this process. */
export function createSignalBoard(): SignalBoard {
  const usage = new Map<string, Set<() => void>>();
  const sessions = new Set<(accountId: string | null) => void>();
  return {
    onUsage(accountId, listener) {
      const listeners = usage.get(accountId) ?? new Set();
      usage.set(accountId, listeners.add(listener));
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0 && usage.get(accountId) === listeners) usage.delete(accountId);
      };
    },
    onSessions(listener) {
      sessions.add(listener);
      return () => sessions.delete(listener);
    },
    usageFlushed(accountIds) {
      for (const id of accountIds ?? usage.keys()) {
        for (const listener of usage.get(id) ?? []) listener();
      }
    },
    sessionsChanged(accountId) {
      for (const listener of sessions) listener(accountId);
    },
  };
}

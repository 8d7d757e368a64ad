/**
 * What other processes say while it happens, for those of this process who wait for it. A signal says that there is
 * something to read, never what: it may come twice or for nothing, and after a loss it comes for everybody.
 */
export interface Signals {
  /** Calls `listener` when usage of the account may have been committed. Gives the way to stop. */
  onUsage(accountId: string, listener: () => void): () => void;
  /** The same when alerts of the account may have fired. */
  onAlerts(accountId: string, listener: () => void): () => void;
  /** Calls `listener` with the account whose sessions may have ended; null: anybody's may have. */
  onSessions(listener: (accountId: string | null) => void): () => void;
  /** Calls `listener` with the runs of the model playground that are to end. */
  onPlaygroundCancel(listener: (runIds: readonly string[]) => void): () => void;
}

/** Where signals come in. */
export interface SignalBoard extends Signals {
  /** Null: of every account. */
  usageFlushed(accountIds: readonly string[] | null): void;
  /** Null: of every account. */
  alertsFired(accountIds: readonly string[] | null): void;
  sessionsChanged(accountId: string | null): void;
  playgroundCancelled(runIds: readonly string[]): void;
}

/** Brings signals to their listeners within this process. */
export function createSignalBoard(): SignalBoard {
  const usage = createAccountNotifier();
  const alerts = createAccountNotifier();
  const sessions = new Set<(accountId: string | null) => void>();
  const cancels = new Set<(runIds: readonly string[]) => void>();
  return {
    onUsage: usage.on,
    onAlerts: alerts.on,
    onSessions(listener) {
      sessions.add(listener);
      return () => sessions.delete(listener);
    },
    onPlaygroundCancel(listener) {
      cancels.add(listener);
      return () => cancels.delete(listener);
    },
    usageFlushed: usage.notify,
    alertsFired: alerts.notify,
    sessionsChanged(accountId) {
      for (const listener of sessions) listener(accountId);
    },
    playgroundCancelled(runIds) {
      for (const listener of cancels) listener(runIds);
    },
  };
}

/** Listeners by account. */
function createAccountNotifier() {
  const byAccount = new Map<string, Set<() => void>>();
  return {
    on(accountId: string, listener: () => void): () => void {
      const listeners = byAccount.get(accountId) ?? new Set();
      byAccount.set(accountId, listeners.add(listener));
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0 && byAccount.get(accountId) === listeners) byAccount.delete(accountId);
      };
    },
    notify(accountIds: readonly string[] | null): void {
      for (const id of accountIds ?? byAccount.keys()) {
        for (const listener of byAccount.get(id) ?? []) listener();
      }
    },
  };
}

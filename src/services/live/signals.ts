/**
 * Live signals from other processes, for listeners in this process. A signal means that there is something to read,
 * without saying what. It may be repeated or unnecessary; after a lost connection, everybody gets one.
 */
export interface Signals {
  /** Calls `listener` when usage of the account may have been committed. Returns a function that stops this. */
  onUsage(accountId: string, listener: () => void): () => void;
  /** The same when alerts of the account may have fired. */
  onAlerts(accountId: string, listener: () => void): () => void;
  /** The same when balance, plan or keys of the account may have changed, or its calls were refused. */
  onAccount(accountId: string, listener: () => void): () => void;
  /** The same when prompts of the account may have changed. */
  onPrompts(accountId: string, listener: () => void): () => void;
  /** Calls `listener` with the account whose sessions may have ended; null means any account. */
  onSessions(listener: (accountId: string | null) => void): () => void;
  /** Calls `listener` when the hourly figures of models may have changed. */
  onModelHours(listener: () => void): () => void;
  /** Calls `listener` when anything about the nodes may have changed. */
  onNodes(listener: () => void): () => void;
  /** Calls `listener` with the ids of playground runs that were cancelled. */
  onPlaygroundCancel(listener: (runIds: readonly string[]) => void): () => void;
}

/** Where signals come in. */
export interface SignalBoard extends Signals {
  /** Null for every account. */
  usageFlushed(accountIds: readonly string[] | null): void;
  /** Null for every account. */
  alertsFired(accountIds: readonly string[] | null): void;
  /** Null for every account. */
  accountsChanged(accountIds: readonly string[] | null): void;
  promptsChanged(accountIds: readonly string[] | null): void;
  sessionsChanged(accountId: string | null): void;
  modelHoursChanged(): void;
  nodesChanged(): void;
  playgroundCancelled(runIds: readonly string[]): void;
}

/** Distributes signals to listeners within this process. */
export function createSignalBoard(): SignalBoard {
  const usage = createAccountNotifier();
  const alerts = createAccountNotifier();
  const accounts = createAccountNotifier();
  const prompts = createAccountNotifier();
  const sessions = createNotifier<string | null>();
  const modelHours = createNotifier<void>();
  const nodes = createNotifier<void>();
  const cancels = createNotifier<readonly string[]>();
  return {
    onUsage: usage.on,
    onAlerts: alerts.on,
    onAccount: accounts.on,
    onPrompts: prompts.on,
    onSessions: sessions.on,
    onModelHours: modelHours.on,
    onNodes: nodes.on,
    onPlaygroundCancel: cancels.on,
    usageFlushed: usage.notify,
    alertsFired: alerts.notify,
    accountsChanged: accounts.notify,
    promptsChanged: prompts.notify,
    sessionsChanged: sessions.notify,
    modelHoursChanged: modelHours.notify,
    nodesChanged: nodes.notify,
    playgroundCancelled: cancels.notify,
  };
}

/** Listeners for all accounts. */
function createNotifier<News>() {
  const listeners = new Set<(news: News) => void>();
  return {
    on(listener: (news: News) => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    notify(news: News): void {
      for (const listener of listeners) listener(news);
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

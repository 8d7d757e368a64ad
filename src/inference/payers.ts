import type { Invalidation } from '../db/invalidation.js';
import { Accounts } from './accounts.js';
import { KeyCache } from './keys/key-cache.js';
import type { Payer } from './payer.js';
import type { RowCacheDeps } from './row-cache.js';
import type { VirtualKeyDeps } from './virtual-key.js';
import { WidgetCache } from './widgets/widget-cache.js';

const SWEEP_MS = 60_000;

/** The caches of all payers. Keys and widgets of an account share its state. */
export class Payers {
  readonly keys: KeyCache;
  readonly widgets: WidgetCache;
  readonly #accounts = new Accounts();
  readonly #sweeper: NodeJS.Timeout;

  constructor(deps: RowCacheDeps & VirtualKeyDeps) {
    this.keys = new KeyCache({ ...deps, accounts: this.#accounts });
    this.widgets = new WidgetCache({ ...deps, accounts: this.#accounts });
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS);
    this.#sweeper.unref();
  }

  /** Reads a payer again. Never rejects. */
  renew({ credential, hash }: Payer): Promise<void> {
    return (credential.kind === 'widget' ? this.widgets : this.keys).renew(hash);
  }

  /** Outdates the rows that a notification concerns. */
  invalidate(change: Invalidation): void {
    this.keys.invalidate(change);
    this.widgets.invalidate(change);
  }

  /** Notifications may have been missed: reads every row again before its next use, if the database answers. */
  invalidateAll(): void {
    this.keys.invalidateAll();
    this.widgets.invalidateAll();
  }

  stop(): void {
    clearInterval(this.#sweeper);
    this.keys.stop();
    this.widgets.stop();
  }

  #sweep(): void {
    this.#accounts.sweep((id) => this.keys.keeps(id) || this.widgets.keeps(id));
    this.keys.sweep();
    this.widgets.sweep();
  }
}

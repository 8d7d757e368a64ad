import type { Money } from '../lib/money.js';

/** One place where a model runs. Everything here but `group` and `id` is internal. */
export interface Deployment {
  /** `model_info.id`, unique in the file. */
  id: string;
  /** The public model name that it serves. */
  group: string;
  /** The node's own name of the model, without the provider. */
  upstreamModel: string;
  /** Base address with its `/v1`, no slash at the end. */
  apiBase: string;
  apiKey: string | undefined;
  /** 1e-12 dollars per token. */
  inputCost: Money;
  outputCost: Money;
  /** Milliseconds to the first byte; undefined: the process's default. */
  timeoutMs: number | undefined;
  /** Milliseconds between two chunks; undefined: the process's default. */
  idleMs: number | undefined;
  /** Whether the address is the bundled simulator's. */
  simulated: boolean;
}

export interface RouterSettings {
  strategy: 'simple-shuffle';
  numRetries: number;
  retryAfterMs: number;
  allowedFails: number;
  cooldownMs: number;
  timeoutMs: number | undefined;
  /** Primary group → groups that stand in, in order. */
  fallbacks: ReadonlyMap<string, readonly string[]>;
}

/** A routing file, read and resolved. */
export interface Routing {
  deployments: Deployment[];
  settings: RouterSettings;
  /** Undefined: the process's own (`UPSTREAM_MASTER_KEY`). */
  masterKey: string | undefined;
}

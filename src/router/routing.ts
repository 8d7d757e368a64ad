import type { Money } from '../lib/money.js';
import type { HostIntent } from './node-gate.js';
import type { BoundFields } from './output-bound.js';
import type { Secret } from './secret.js';

/** How a deployment is called. */
export interface NodeAccess {
  /** The node's own name of the model, without the provider. */
  upstreamModel: string;
  /** Base address with its `/v1`, no slash at the end. */
  apiBase: string;
  apiKey: string | undefined;
}

/** One place where a model runs. */
export interface Deployment {
  /** `model_info.id`, unique in the file. */
  id: string;
  /** The id as a header carries it. */
  headerName: string;
  /** The id as a usage event keeps it; undefined if it can't. */
  storableName: string | undefined;
  /** The public model name that it serves. */
  group: string;
  node: Secret<NodeAccess>;
  /** 1e-12 dollars per token. */
  inputCost: Money;
  outputCost: Money;
  /** Milliseconds to the first byte; undefined: the process's default. */
  timeoutMs: number | undefined;
  /** Milliseconds between two chunks; undefined: the process's default. */
  idleMs: number | undefined;
  /** Its share of the group's calls is weight ÷ sum of weights; with 0, it only gets calls that no other can serve. */
  weight: number;
  /** `model_info.max_tokens_field`: what bounds its answers. With `both`, a node may say that it takes one only. */
  maxTokensField: BoundFields;
  /** Whether the address is the bundled simulator's. */
  simulated: boolean;
}

export interface RouterSettings {
  strategy: 'simple-shuffle';
  /** Tries after the first, in one group. */
  numRetries: number;
  /** Pause before a try when no other deployment is left to ask. */
  retryAfterMs: number;
  /** Consecutive failures that park a deployment. */
  allowedFails: number;
  /** How long it stays parked. */
  cooldownMs: number;
  /** Milliseconds to the first byte where a deployment doesn't say. */
  timeoutMs: number | undefined;
  /** Primary group → fallback groups while all of it is parked, in order. Fallbacks of fallbacks don't count. */
  fallbacks: ReadonlyMap<string, readonly string[]>;
}

/** A routing file, read and resolved. */
export interface Routing {
  deployments: Deployment[];
  settings: RouterSettings;
  /** Undefined: the process's own (`UPSTREAM_MASTER_KEY`). */
  masterKey: Secret<string> | undefined;
}

/** A deployment as shown to those who may know about it. */
export interface DeploymentState {
  deployment: Deployment;
  fails: number;
  /** Why the last of these failed. */
  lastFailure: string | undefined;
  /** Milliseconds until it takes calls again; 0: it does. */
  parkedForMs: number;
  /** Whether it takes calls now, by all that is known of it and its node. */
  standing: HostIntent;
  /** Calls under way to its host and port. */
  inFlight: number;
}

import type { Money } from '../lib/money.js';
import type { Availability } from './node-gate.js';
import type { BoundFields } from './output-bound.js';
import type { Secret } from './secret.js';

/** How to call a deployment. */
export interface NodeAccess {
  /** The node's name of the model, without the provider. */
  upstreamModel: string;
  /** Base URL including `/v1`, without a trailing slash. */
  apiBase: string;
  apiKey: string | undefined;
  /** Headers of every call, with the key. */
  headers: Readonly<Record<string, string>>;
  /** With its question mark; empty for none. */
  query: string;
}

/** What a process may send to one deployment. Undefined for no limit. */
export interface LimitSettings {
  callsPerMinute: number | undefined;
  /** Tokens of prompts and answers. */
  tokensPerMinute: number | undefined;
  /** Calls in flight. */
  parallel: number | undefined;
}

/** One entry of the routing file: a model on a node. */
export interface Deployment {
  /** `model_info.id`, unique in the file. */
  id: string;
  /** The id in the form that a header can carry. */
  headerName: string;
  /** The id in the form that a usage event stores; undefined if it can't be stored. */
  storableName: string | undefined;
  /** Public name of the model. */
  group: string;
  node: Secret<NodeAccess>;
  /** 1e-12 dollars per token. */
  inputCost: Money;
  outputCost: Money;
  /** Milliseconds to the first byte; undefined for the process's default. */
  timeoutMs: number | undefined;
  /** Milliseconds between two chunks; undefined for the process's default. */
  idleMs: number | undefined;
  /** Its share of the group's calls is weight ÷ sum of weights. With 0, it only gets calls that no other deployment can take. */
  weight: number;
  limits: LimitSettings;
  /** `model_info.max_tokens_field`: the fields that bound its answers. With `both`, the router learns if the node accepts only one. */
  maxTokensField: BoundFields;
  /** Whether the address is the bundled simulator's. */
  simulated: boolean;
}

export interface RouterSettings {
  strategy: 'simple-shuffle';
  /** Tries after the first, in one group. */
  numRetries: number;
  /** Milliseconds before a deployment is tried again when no untried one is left. */
  retryAfterMs: number;
  /** Consecutive failures that start a cooldown. */
  allowedFails: number;
  /** Length of a cooldown in milliseconds. */
  cooldownMs: number;
  /** Milliseconds to the first byte where a deployment sets none. */
  timeoutMs: number | undefined;
  /** Group → its fallbacks in order, for while the whole group is unavailable. Fallbacks of fallbacks don't count. */
  fallbacks: ReadonlyMap<string, readonly string[]>;
}

/** A routing file, read and resolved. */
export interface Routing {
  deployments: Deployment[];
  settings: RouterSettings;
  /** Undefined for the process's own (`UPSTREAM_MASTER_KEY`). */
  masterKey: Secret<string> | undefined;
  /** Names of settings in the file that have no effect here. */
  ignored: readonly string[];
}

/** State of a deployment in this process. */
export interface DeploymentState {
  deployment: Deployment;
  /** Consecutive failures. */
  fails: number;
  /** Why the last call failed; undefined if it succeeded. */
  lastFailure: string | undefined;
  /** Milliseconds until its cooldown ends; 0 if it isn't cooling down. */
  cooldownLeftMs: number;
  /** Whether it takes calls now, by its health and its node. */
  availability: Availability;
  /** Calls in flight at its host and port. */
  inFlight: number;
}

import { uuidOf } from '../uuid.js';

/** Which deployment answered a call. Internal: the edge stores it with the usage event and doesn't pass it on. */
export interface ServedBy {
  /** `model_info.id` of the routing file. */
  deployment: string;
  /** The deployment's node; null if none is registered there. */
  nodeId: string | null;
  /** Calls in flight at that node when this one began, including this one; null if unknown. */
  nodeCalls: number | null;
}

/** The header in which the router names the deployment. */
export const SERVED_BY_HEADER = 'x-gateway-served-by';
/** The header in which LiteLLM names a deployment. */
export const LITELLM_DEPLOYMENT_HEADER = 'x-litellm-model-id';

const NONE = '-';
const MAX_CALLS = 1_000_000;
/** Without characters that the database refuses or that break a log line. */
const NAME = /^[^\p{Cc}\p{Cs}]{1,200}$/u;
const VALUE = /^(-|[0-9a-f-]{36}) (\d{1,7}) (\S{1,2000})$/;

/** A deployment's name in the form that a header can carry. */
export const headerName = (deployment: string): string => encodeURIComponent(deployment.toWellFormed());

/** A deployment's name in the form that a usage event stores; undefined if it can't be stored. */
export const storableName = (deployment: string): string | undefined => {
  const name = deployment.toWellFormed();
  return NAME.test(name) ? name : undefined;
};

export const servedByValue = ({ deployment, nodeId, nodeCalls }: ServedBy): string =>
  `${nodeId ?? NONE} ${nodeCalls ?? 0} ${headerName(deployment)}`;

/** Reads the router's header; undefined for any other value, since an upstream may send anything. */
export function readServedBy(value: string): ServedBy | undefined {
  const [, nodeId = '', calls = '', name = ''] = VALUE.exec(value) ?? [];
  const deployment = decoded(name);
  if (deployment === undefined || Number(calls) > MAX_CALLS) return undefined;
  return { deployment, nodeId: uuidOf(nodeId) ?? null, nodeCalls: Number(calls) };
}

/** Reads LiteLLM's header. */
export function readLitellmDeployment(value: string): ServedBy | undefined {
  const deployment = storableName(value);
  return deployment === undefined ? undefined : { deployment, nodeId: null, nodeCalls: null };
}

function decoded(name: string): string | undefined {
  try {
    return storableName(decodeURIComponent(name));
  } catch {
    return undefined;
  }
}

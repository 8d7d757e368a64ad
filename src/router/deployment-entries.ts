import { headerName, storableName } from '../lib/upstream/served-by.js';
import { isAzureV1, type RoutingFile } from './config-schema.js';
import type { Deployment, NodeAccess } from './routing.js';
import { Secret } from './secret.js';

type Entry = RoutingFile['model_list'][number];

/** Seconds of the file in milliseconds. */
export const inMs = (seconds: number | undefined): number | undefined =>
  seconds === undefined ? undefined : Math.round(seconds * 1000);

/** Azure has a path for each deployment, and takes its key in a header of its own. */
function accessOf({ litellm_params: params }: Entry): NodeAccess {
  const { model, api_base: base, api_key: apiKey, api_version: version, organization } = params;
  const hasOwnPath = model.azure && !isAzureV1(base);
  const key: Record<string, string> =
    apiKey === undefined ? {} : model.azure ? { 'api-key': apiKey } : { authorization: `Bearer ${apiKey}` };
  const extra = Object.entries(params.extra_headers).map(([name, value]) => [name.toLowerCase(), value]);
  return {
    upstreamModel: model.name,
    apiBase: hasOwnPath ? `${base}/openai/deployments/${encodeURIComponent(model.name)}` : base,
    apiKey,
    headers: {
      ...key,
      ...(organization !== undefined && { 'openai-organization': organization }),
      ...Object.fromEntries(extra),
    },
    query: version === undefined ? '' : `?api-version=${version}`,
  };
}

/** As with LiteLLM's shuffle: without weights, a group whose deployments all have an `rpm`, or a `tpm`, is shared in proportion. */
function weightIn(group: readonly Entry[], { litellm_params: own }: Entry): number {
  const params = group.map((entry) => entry.litellm_params);
  if (params.some(({ weight }) => weight !== undefined)) return own.weight ?? 1;
  if (params.every(({ rpm }) => rpm !== undefined)) return own.rpm!;
  return params.every(({ tpm }) => tpm !== undefined) ? own.tpm! : 1;
}

/** The deployments of a file. `simulated`: positions of those that point at the simulator. */
export function toDeployments(entries: readonly Entry[], simulated: ReadonlySet<number>): Deployment[] {
  const groups = Map.groupBy(entries, (entry) => entry.model_name);
  return entries.map((entry, index) => {
    const { litellm_params: params, model_info: info, model_name: group } = entry;
    return {
      id: info.id,
      headerName: headerName(info.id),
      storableName: storableName(info.id),
      group,
      node: new Secret(accessOf(entry)),
      inputCost: params.input_cost_per_token,
      outputCost: params.output_cost_per_token,
      timeoutMs: inMs(params.timeout),
      idleMs: inMs(params.stream_timeout),
      weight: weightIn(groups.get(group)!, entry),
      limits: {
        callsPerMinute: params.rpm,
        tokensPerMinute: params.tpm,
        parallel: params.max_parallel_requests,
      },
      maxTokensField: info.max_tokens_field,
      simulated: simulated.has(index),
    };
  });
}

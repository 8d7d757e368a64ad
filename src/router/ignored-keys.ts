import { deployment, generalSettings, routerSettings, routingFile } from './config-schema.js';

/** Sections of LiteLLM's file of which this router reads nothing. Other names may be anchors of the operator. */
const SECTIONS = [
  'litellm_settings',
  'environment_variables',
  'callback_settings',
  'credential_list',
  'guardrails',
  'mcp_servers',
  'vector_store_registry',
  'search_tools',
];

const membersOf = (value: unknown): string[] =>
  typeof value === 'object' && value !== null ? Object.keys(value) : [];

const unread = (value: unknown, shape: object, prefix: string): string[] =>
  membersOf(value)
    .filter((name) => !(name in shape))
    .map((name) => `${prefix}.${name}`);

/** Names of the settings in a valid routing file that have no effect here, without values and each once. */
export function ignoredKeys(file: Record<string, unknown> & { model_list: readonly unknown[] }): string[] {
  const { shape } = routingFile;
  const params = deployment.shape.litellm_params.shape;
  const ofDeployments = file.model_list.flatMap((entry) => [
    ...unread(entry, deployment.shape, 'model_list'),
    ...unread((entry as { litellm_params: unknown }).litellm_params, params, 'litellm_params'),
  ]);
  const sections = membersOf(file).filter((name) => SECTIONS.includes(name) && !(name in shape));
  return [
    ...new Set([
      ...ofDeployments,
      ...unread(file.router_settings, routerSettings.shape, 'router_settings'),
      ...unread(file.general_settings, generalSettings.shape, 'general_settings'),
      ...sections.flatMap((name) => {
        const members = unread(file[name], {}, name);
        return members.length > 0 && !Array.isArray(file[name]) ? members : [name];
      }),
    ]),
  ];
}

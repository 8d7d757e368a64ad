import { randomBytes } from 'node:crypto';
import type { NodeOutput, PulseOutput } from '../../src/services/nodes/nodes.outputs.js';
import { type ApiAnswer, call } from '../support/api.js';

export const NODE_SECRET = randomBytes(33).toString('base64');
/** The platform of tests that send heartbeats. */
export const WITH_SECRET = { GPU_HEARTBEAT_SECRET: NODE_SECRET };

export const NODE = {
  name: 'rack 1',
  provider: 'own',
  region: 'eu-1',
  gpu_type: 'H100',
  hourly_cost_usd: 2.5,
  endpoint_url: 'http://10.11.12.13:8000/v1',
};

/** Registers a node. */
export async function register(
  { url, token }: { url: string; token: string },
  fields: Partial<typeof NODE> = {},
): Promise<NodeOutput> {
  const answer = await call<NodeOutput>(url, 'POST', '/api/admin/gpu-nodes', {
    token,
    body: { ...NODE, ...fields },
  });
  if (answer.status !== 201) throw new Error(`registration answered ${answer.status}: ${answer.text}`);
  return answer.body;
}

/** A heartbeat, without a body unless given. */
export const beat = (
  url: string,
  id: string,
  body?: unknown,
  token = NODE_SECRET,
): Promise<ApiAnswer<PulseOutput>> =>
  call(url, 'POST', `/api/internal/gpu-nodes/${id}/heartbeat`, { token, body });

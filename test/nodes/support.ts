import { randomBytes } from 'node:crypto';
import type { Pool } from 'pg';
import { newId } from '../../src/lib/ids.js';
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

/** A benchmark run, without its node. */
export const RUN = {
  model_public_name: 'gateway/fast',
  total_requests: 1_000,
  concurrency: 8,
  total_tokens: 12_800,
  duration_ms: 10_000,
  tokens_per_second: 1_280,
  p50_latency_ms: 700,
  p95_latency_ms: 900,
  errors: 0,
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

/** A node as the platform writes it, heard a moment ago. */
export async function insertNode(
  pool: Pick<Pool, 'query'>,
  url: string,
  { hourlyCost = '1', createdAt = new Date(0) }: { hourlyCost?: string; createdAt?: Date } = {},
): Promise<string> {
  const id = newId();
  await pool.query(
    `insert into gpu_nodes (id, name, provider, region, gpu_type, hourly_cost_usd, endpoint_url, endpoint_key, health_status,
       last_heartbeat_at, created_at, updated_at)
     values ($1, 'n', 'p', 'r', 'g', $2, $3, $4, 'healthy', now(), $5, now())`,
    [id, hourlyCost, url, new URL(url).host, createdAt],
  );
  return id;
}

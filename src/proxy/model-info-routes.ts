import type { FastifyInstance } from 'fastify';
import type { Routing } from './routing.js';

/**
 * `GET /v1/model/info`, for whoever has the master key: LiteLLM's shape without addresses, and beside it the models
 * that stand in for each, so that the edge knows the dearest that a call may cost.
 */
export function modelInfoRoutes(app: FastifyInstance, { deployments, settings }: Routing): void {
  const data = deployments.map(({ id, group, upstreamModel }) => ({
    model_name: group,
    litellm_params: { model: upstreamModel },
    model_info: { id },
    fallbacks: settings.fallbacks.get(group) ?? [],
  }));
  app.get('/v1/model/info', () => ({ data }));
}

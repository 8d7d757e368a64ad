import type { FastifyInstance } from 'fastify';
import { formatMoney } from '../lib/money.js';
import type { Router } from '../router/router.js';
import { proxyRules } from './route-rules.js';

const MS_PER_SECOND = 1000;

/**
 * `GET /v1/model/info`, with the master key: LiteLLM's format without addresses, plus fallbacks, from which the edge computes the
 * highest price of a call, and the state of each deployment. Costs are JSON numbers, for display only.
 */
export function modelInfoRoutes(app: FastifyInstance, router: () => Router): void {
  app.get('/v1/model/info', proxyRules('master'), () => {
    const { settings } = router();
    const data = router()
      .states()
      .map(({ deployment, fails, lastFailure = null, cooldownLeftMs, availability, inFlight }) => ({
        model_name: deployment.group,
        litellm_params: { model: deployment.node.read().upstreamModel, weight: deployment.weight },
        model_info: {
          id: deployment.id,
          input_cost_per_token: Number(formatMoney(deployment.inputCost)),
          output_cost_per_token: Number(formatMoney(deployment.outputCost)),
        },
        fallbacks: settings.fallbacks.get(deployment.group) ?? [],
        status: cooldownLeftMs > 0 ? 'parked' : 'serving',
        consecutive_failures: fails,
        last_failure: lastFailure,
        parked_for_seconds: Math.ceil(cooldownLeftMs / MS_PER_SECOND),
        takes_calls: { open: 'yes', avoided: 'if_no_other_can', closed: 'no' }[availability],
        node_calls_in_flight: inFlight,
      }));
    return { data };
  });
}

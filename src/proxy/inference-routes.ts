import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { findMembers, type Member, replaceValues } from '../lib/json-scan.js';
import { badRequest, modelNotFound, type ProxyError, sendError } from './answers.js';
import type { ProxyMetrics } from './proxy-metrics.js';
import type { Relay } from './relay.js';
import { modelValue } from './restamp.js';
import type { Router } from './router.js';

export interface InferenceDeps {
  router: Router;
  relay: Relay;
  metrics: ProxyMetrics;
}

/** When these models were first listed; SDKs want a number. */
const MODELS_CREATED = 1_763_683_200;
const MAX_SHOWN_NAME = 100;

interface Asked {
  body: Buffer;
  model: string;
  member: Member;
  stream: boolean;
}

/** What the proxy must know of a request, without parsing it. */
function readRequest(body: unknown): Asked | ProxyError {
  const members = Buffer.isBuffer(body) ? findMembers(body, ['model', 'stream']) : undefined;
  if (!Buffer.isBuffer(body) || !members) return badRequest('The request body must be a JSON object.');
  const models = members.filter(({ key }) => key === 'model');
  const streams = members.filter(({ key }) => key === 'stream');
  if (models.length > 1 || streams.length > 1) return badRequest('model and stream may be given once only.');
  const member = models[0];
  if (!member || body[member.valueStart] !== 0x22) return badRequest('model must be a string.', 'model');
  let model: string;
  try {
    model = JSON.parse(body.toString('utf8', member.valueStart, member.end)) as string;
  } catch {
    return badRequest('model must be a string.', 'model');
  }
  const stream = streams.some(({ valueStart, end }) => body.toString('latin1', valueStart, end) === 'true');
  return { body, model, member, stream };
}

export function inferenceRoutes(app: FastifyInstance, { router, relay, metrics }: InferenceDeps): void {
  const forward = (path: string) => async (request: FastifyRequest, reply: FastifyReply) => {
    const asked = readRequest(request.body);
    if (!('member' in asked)) return sendError(reply, asked);
    const deployment = router.pick(asked.model);
    if (!deployment) return sendError(reply, modelNotFound(asked.model.slice(0, MAX_SHOWN_NAME)));
    const body = replaceValues(asked.body, [asked.member], modelValue(deployment.upstreamModel));
    reply.hijack();
    const started = performance.now();
    const outcome = await relay.run({ deployment, path, body, stream: asked.stream }, reply.raw);
    metrics.finished(deployment.group, outcome, (performance.now() - started) / 1000);
  };

  app.post('/v1/chat/completions', forward('/chat/completions'));
  app.post('/v1/embeddings', forward('/embeddings'));
  app.get('/v1/models', () => ({
    object: 'list',
    data: router.models().map(({ name, ownedBy }) => ({
      id: name,
      object: 'model',
      created: MODELS_CREATED,
      owned_by: ownedBy,
    })),
  }));
}

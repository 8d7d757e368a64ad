import { Readable } from 'node:stream';
import { within } from '../lib/within.js';
import {
  cancelPlaygroundInput,
  listPlaygroundInput,
  playgroundParams,
  runPlaygroundInput,
  sharePlaygroundInput,
  slugParams,
} from '../services/playground/playground.inputs.js';
import {
  type SessionOutput,
  sessionOutput,
  sessionsOutput,
  sharedSessionOutput,
  sharingOutput,
} from '../services/playground/playground.outputs.js';
import type { Services } from '../services.js';
import { errorResponses, nothing } from './error-responses.js';
import type { RestApp } from './rest-app.js';
import { reads, writes } from './route-rules.js';

const tags = ['Playground'];
/** Two texts of 50,000 characters in UTF-8, or one in which every character is escaped as two `\\uXXXX`. */
const BODY_BYTES = 768 * 1024;
/** Intermediaries give up on a response that doesn't start: the edge after 60 s. */
const PLAIN_ANSWER_MS = 5_000;
const SIGN_OF_LIFE_MS = 10_000;

/** Sends spaces, which JSON allows before a value, until the session is complete. */
async function* patiently(whole: Promise<SessionOutput>): AsyncGenerator<string> {
  for (;;) {
    yield ' ';
    const session = await within(SIGN_OF_LIFE_MS, whole);
    if (!session) continue;
    yield JSON.stringify(session);
    return;
  }
}

/** The viewer's model playground. */
export function playgroundRoutes(app: RestApp, services: Services): void {
  const { playground } = services;

  app.route({
    method: 'POST',
    url: '/api/playground',
    config: writes({ bodyLimitBytes: BODY_BYTES }),
    schema: {
      operationId: 'runPlayground',
      tags,
      summary: 'Run a prompt on up to 4 models',
      description:
        'Responds when all runs have finished; a failed run says so in its `status`. Runs are free. To stream the answers, use GraphQL: the mutation `runPlayground` and the subscription `playgroundRun`. If the models take long, the response starts with spaces before the JSON.',
      body: runPlaygroundInput,
      response: { 201: sessionOutput, ...errorResponses(401, 403, 415, 422) },
    },
    handler: async (request, reply) => {
      const { whole } = await playground.run(request.context, request.body);
      reply.status(201);
      const session = await within(PLAIN_ANSWER_MS, whole);
      if (session) return session;
      reply.type('application/json; charset=utf-8');
      return reply.send(Readable.from(patiently(whole)) as never);
    },
  });

  app.route({
    method: 'GET',
    url: '/api/playground',
    config: reads({ rate: 'heavy' }),
    schema: {
      operationId: 'listPlaygroundSessions',
      tags,
      summary: 'List my sessions',
      description:
        'Returns the 50 newest sessions, newest first, with the first 1,000 characters of each text. Older sessions are deleted unless they are shared.',
      querystring: listPlaygroundInput,
      response: { 200: sessionsOutput, ...errorResponses(401, 422) },
    },
    handler: async (request) => playground.list(request.context, request.query),
  });

  app.route({
    method: 'GET',
    url: '/api/playground/:id',
    config: reads(),
    schema: {
      operationId: 'getPlaygroundSession',
      tags,
      summary: 'Show a session',
      description: 'Returns a session with the current state of its runs.',
      params: playgroundParams,
      response: { 200: sessionOutput, ...errorResponses(401, 404) },
    },
    handler: async (request) => playground.get(request.context, request.params),
  });

  app.route({
    method: 'POST',
    url: '/api/playground/:id/cancel',
    config: writes(),
    schema: {
      operationId: 'cancelPlaygroundRuns',
      tags,
      summary: 'Cancel runs',
      description:
        'Cancels unfinished runs within a second: all runs of the session, or only the one given in the body.',
      params: playgroundParams,
      body: cancelPlaygroundInput,
      response: { 200: sessionOutput, ...errorResponses(401, 403, 404, 415, 422) },
    },
    handler: async (request) =>
      playground.cancel(request.context, { ...request.params, runId: request.body?.run_id ?? null }),
  });

  app.route({
    method: 'DELETE',
    url: '/api/playground/:id',
    config: writes(),
    schema: {
      operationId: 'deletePlaygroundSession',
      tags,
      summary: 'Delete a session',
      description: 'Permanently deletes a session and its runs. Unfinished runs are cancelled.',
      params: playgroundParams,
      response: { 204: nothing('The session was deleted.'), ...errorResponses(401, 403, 404, 415) },
    },
    handler: async (request, reply) => {
      await playground.remove(request.context, request.params);
      reply.status(204);
    },
  });
  sharingRoutes(app, services);
}

function sharingRoutes(app: RestApp, { playground }: Services): void {
  app.route({
    method: 'POST',
    url: '/api/playground/:id/share',
    config: writes(),
    schema: {
      operationId: 'sharePlaygroundSession',
      tags,
      summary: 'Share a session',
      description:
        'Creates a public URL with which anyone can read the session. Sharing again returns the same URL; `rotate` creates a new one and disables the previous one.',
      params: playgroundParams,
      body: sharePlaygroundInput,
      response: { 200: sharingOutput, ...errorResponses(401, 403, 404, 415, 422) },
    },
    handler: async (request) =>
      playground.share(request.context, { ...request.params, rotate: request.body?.rotate }),
  });

  app.route({
    method: 'DELETE',
    url: '/api/playground/:id/share',
    config: writes(),
    schema: {
      operationId: 'unsharePlaygroundSession',
      tags,
      summary: 'Stop sharing a session',
      description: 'The public URL stops working immediately.',
      params: playgroundParams,
      response: {
        204: nothing('The session is no longer shared.'),
        ...errorResponses(401, 403, 404, 415),
      },
    },
    handler: async (request, reply) => {
      await playground.unshare(request.context, request.params);
      reply.status(204);
    },
  });

  app.route({
    method: 'GET',
    url: '/api/playground/shared/:slug',
    config: reads({ auth: 'none' }),
    schema: {
      operationId: 'getSharedPlaygroundSession',
      tags,
      summary: 'Show a shared session',
      description: "Available to anyone with the URL. It doesn't identify the owner.",
      params: slugParams,
      response: { 200: sharedSessionOutput, ...errorResponses(404) },
    },
    handler: async (request, reply) => {
      reply.header('x-robots-tag', 'noindex');
      return playground.shared(request.context, request.params);
    },
  });
}

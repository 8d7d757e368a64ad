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
  playgroundSessionOutput,
  type SessionOutput,
  sessionsOutput,
  sharedSessionOutput,
  sharingOutput,
} from '../services/playground/playground.outputs.js';
import { restRoutes } from './operations.js';
import { reads, writes } from './route-rules.js';

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

/** The viewer's playground. */
export const playgroundRoutes = restRoutes('Playground', (route, { playground }) => {
  route('POST /api/playground', writes({ bodyLimitBytes: BODY_BYTES }), {
    operationId: 'runPlayground',
    summary: 'Run a prompt on up to 4 models',
    description:
      'Responds when all runs have finished; a failed run says so in its `status`. Runs are free. To stream the answers, use GraphQL: the mutation `runPlayground` and the subscription `playgroundRun`. If the models take long, the response starts with spaces before the JSON.',
    body: runPlaygroundInput,
    returns: { 201: playgroundSessionOutput },
    errors: ['model_not_allowed', 'upstream_unconfigured'],
    run: async ({ context, body }, reply) => {
      const left = new AbortController();
      if (reply.raw.destroyed) left.abort();
      else reply.raw.once('close', () => left.abort());
      const { whole } = await playground.run(context, body, left.signal);
      const session = await within(PLAIN_ANSWER_MS, whole);
      if (session) return session;
      reply.type('application/json; charset=utf-8');
      return reply.send(Readable.from(patiently(whole)) as never);
    },
  });

  route('GET /api/playground', reads({ rate: 'heavy' }), {
    operationId: 'listPlaygroundSessions',
    summary: 'List my sessions',
    description:
      'Lists your sessions, newest first, with the first 1,000 characters of each text. The newest 50 are kept, and up to 200 shared ones beside them.',
    query: listPlaygroundInput,
    returns: { 200: sessionsOutput },
    run: ({ context, query }) => playground.list(context, query),
  });

  route('GET /api/playground/:id', reads(), {
    operationId: 'getPlaygroundSession',
    summary: 'Show a session',
    description: 'Returns a session with the current state of its runs.',
    params: playgroundParams,
    returns: { 200: playgroundSessionOutput },
    run: ({ context, params }) => playground.get(context, params),
  });

  route('POST /api/playground/:id/cancel', writes(), {
    operationId: 'cancelPlaygroundRuns',
    summary: 'Cancel runs',
    description:
      'Cancels unfinished runs within a second: all runs of the session, or only the one given in the body.',
    params: playgroundParams,
    body: cancelPlaygroundInput,
    returns: { 200: playgroundSessionOutput },
    run: ({ context, params, body }) =>
      playground.cancel(context, { ...params, runId: body?.run_id ?? null }),
  });

  route('DELETE /api/playground/:id', writes(), {
    operationId: 'deletePlaygroundSession',
    summary: 'Delete a session',
    description: 'Permanently deletes a session and its runs. Unfinished runs are cancelled.',
    params: playgroundParams,
    returns: { 204: 'The session was deleted.' },
    run: ({ context, params }) => playground.remove(context, params),
  });

  route('POST /api/playground/:id/share', writes(), {
    operationId: 'sharePlaygroundSession',
    summary: 'Share a session',
    description:
      'Creates a public URL with which anyone can read the session. Sharing again returns the same URL; `rotate` creates a new one and disables the previous one.',
    params: playgroundParams,
    body: sharePlaygroundInput,
    returns: { 200: sharingOutput },
    run: ({ context, params, body }) => playground.share(context, { ...params, rotate: body?.rotate }),
  });

  route('DELETE /api/playground/:id/share', writes(), {
    operationId: 'unsharePlaygroundSession',
    summary: 'Stop sharing a session',
    description: 'The public URL stops working immediately.',
    params: playgroundParams,
    returns: { 204: 'The session is no longer shared.' },
    run: async ({ context, params }) => {
      await playground.unshare(context, params);
    },
  });

  route('GET /api/playground/shared/:slug', reads({ auth: 'none' }), {
    operationId: 'getSharedPlaygroundSession',
    summary: 'Show a shared session',
    description: "Available to anyone with the URL. It doesn't identify the owner.",
    params: slugParams,
    returns: { 200: sharedSessionOutput },
    run: async ({ context, params }, reply) => {
      reply.header('x-robots-tag', 'noindex');
      return playground.shared(context, params);
    },
  });
});

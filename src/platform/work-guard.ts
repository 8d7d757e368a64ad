import type { FastifyInstance } from 'fastify';
import { asWork, networkOwner, type Work } from '../lib/work-owner.js';
import { entryOf } from './route-guard.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** On whose account the work of this request counts: the network's, until a session says more. */
    work: Work | null;
  }
}

/** Makes what a request asks of the database count as its caller's (src/db/pool-share.ts). */
export function ownWork(app: FastifyInstance): void {
  app.decorateRequest('work', null);
  app.addHook('onRequest', (request, _reply, done) => {
    // Whether the process works, and pages out of its memory, is nobody's work.
    if ((entryOf(request)?.rate ?? 'none') === 'none') {
      done();
      return;
    }
    request.work = { owner: networkOwner(request.context.network) };
    asWork(request.work, done);
  });
  // A body arrives with its socket's events, which know nothing of the hook above.
  app.addHook('preValidation', (request, _reply, done) => {
    if (request.work) asWork(request.work, done);
    else done();
  });
}

import type { FastifyInstance } from 'fastify';
import { asWork, networkOwner } from '../lib/work-owner.js';
import { rulesOf } from './route-guard.js';

/**
 * Makes what a request asks of the database count as its caller's (src/db/pool-share.ts): the network's, until a session
 * says more.
 */
export function ownWork(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    // Whether the process works, and pages out of its memory, is nobody's work.
    if ((rulesOf(request)?.rate ?? 'none') === 'none') done();
    else asWork({ owner: networkOwner(request.context.network) }, done);
  });
}

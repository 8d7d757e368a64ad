import type { FastifyInstance } from 'fastify';

/**
 * Warns once when a peer names a client and isn't believed: an edge on another machine that TRUST_PROXY doesn't list. All its
 * visitors count as one address then, and share its limits.
 */
export function warnOfUntrustedPeers(app: FastifyInstance): void {
  let isSaid = false;
  app.addHook('onRequest', async (request) => {
    const isBelieved = (request.ips?.length ?? 0) > 1;
    if (isSaid || isBelieved || request.headers['x-forwarded-for'] === undefined) return;
    isSaid = true;
    request.log.warn(
      'ignored the x-forwarded-for of a peer that is not trusted: if it is an edge, list its address in TRUST_PROXY',
    );
  });
}

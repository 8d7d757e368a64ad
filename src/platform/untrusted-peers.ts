import type { FastifyInstance } from 'fastify';

/**
 * Warns once when an untrusted peer sends `x-forwarded-for`: probably an edge on another machine that TRUST_PROXY
 * doesn't list. All its visitors then count as one address and share its limits.
 */
export function warnOfUntrustedPeers(app: FastifyInstance): void {
  let hasWarned = false;
  app.addHook('onRequest', async (request) => {
    const isBelieved = (request.ips?.length ?? 0) > 1;
    if (hasWarned || isBelieved || request.headers['x-forwarded-for'] === undefined) return;
    hasWarned = true;
    request.log.warn(
      'ignored the x-forwarded-for of a peer that is not trusted: if it is an edge, list its address in TRUST_PROXY',
    );
  });
}

import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { isLoopback } from '../../lib/network.js';

/** Headers with which a client claims proxies in front of us. Only the edge knows them, so none is forwarded. */
const FORWARDED = /^(?:x-forwarded-|x-real-ip$|forwarded$|via$|true-client-ip$|cf-connecting-ip$)/;
/**
 * These speak of one connection and end with it, in both directions: the platform keeping ours alive is nothing to
 * the client, and some of them make our own client of the platform throw. `Expect` was answered by us.
 */
const HOP_BY_HOP =
  /^(?:connection|keep-alive|proxy-connection|transfer-encoding|upgrade|te|trailer|expect|http2-settings)$/;
/** Where a request comes from, as only we know it. */
export function forwardedHeaders({ ip, ips, protocol, raw }: FastifyRequest): Record<string, string> {
  const byProxy = isLoopback(ip) && ips !== undefined && ips.length > 1;
  const headers: Record<string, string> = {
    // One more hop indicates that a proxy named a client on this machine, which isn't its operator at a keyboard.
    'x-forwarded-for': byProxy ? `${ip}, 127.0.0.1` : ip,
    'x-forwarded-proto': protocol,
  };
  if (raw.headers.host) headers['x-forwarded-host'] = raw.headers.host;
  return headers;
}

/** A platform's header may hold what Node refuses to send on. */
const sendable = (value: string | string[] | undefined): string | string[] | undefined =>
  Array.isArray(value)
    ? value.map((one) => sendable(one) as string)
    : value?.replace(/[^\t\x20-\x7e\x80-\xff]/g, '');

/** Headers of the platform's answer for the client. */
export const endToEnd = (headers: IncomingHttpHeaders): Record<string, string | string[] | undefined> =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !HOP_BY_HOP.test(name))
      .map(([name, value]) => [name, sendable(value)]),
  );

/** What of a client's headers goes to the platform, and where they come from. */
export function askedHeaders(request: FastifyRequest): Record<string, string | string[] | undefined> {
  const { headers } = request.raw;
  const ofConnection = (headers.connection ?? '').toLowerCase().split(',');
  const dropped = new Set(ofConnection.map((name) => name.trim()));
  // The platform has its own.
  dropped.add('host');
  const kept = Object.entries(headers).filter(
    ([name]) => !FORWARDED.test(name) && !HOP_BY_HOP.test(name) && !dropped.has(name),
  );
  return { ...Object.fromEntries(kept), ...forwardedHeaders(request) };
}

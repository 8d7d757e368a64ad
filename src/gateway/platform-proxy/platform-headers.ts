import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { isLoopback } from '../../lib/network.js';

/** Headers in which a client claims to come through proxies. They are dropped: only the edge knows its proxies. */
const FORWARDED = /^(?:x-forwarded-|x-real-ip$|forwarded$|via$|true-client-ip$|cf-connecting-ip$)/;
/**
 * Headers that apply to one connection only, in both directions. Some of them would make undici throw. The edge has answered `Expect`
 * itself.
 */
const HOP_BY_HOP =
  /^(?:connection|keep-alive|proxy-connection|transfer-encoding|upgrade|te|trailer|expect|http2-settings)$/;

/** Headers that tell the platform where a request comes from. */
export function forwardedHeaders({ ip, ips, protocol, raw }: FastifyRequest): Record<string, string> {
  const byProxy = isLoopback(ip) && ips !== undefined && ips.length > 1;
  const headers: Record<string, string> = {
    // One more hop shows that a proxy named a client on this machine, so the request isn't the operator's own.
    'x-forwarded-for': byProxy ? `${ip}, 127.0.0.1` : ip,
    'x-forwarded-proto': protocol,
  };
  if (raw.headers.host) headers['x-forwarded-host'] = raw.headers.host;
  return headers;
}

/** Removes characters from a platform's header that Node refuses to send. */
const sendable = (value: string | string[] | undefined): string | string[] | undefined =>
  Array.isArray(value)
    ? value.map((one) => sendable(one) as string)
    : value?.replace(/[^\t\x20-\x7e\x80-\xff]/g, '');

/** Headers of the platform's answer that are passed to the client. */
export const responseHeaders = (
  headers: IncomingHttpHeaders,
): Record<string, string | string[] | undefined> =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !HOP_BY_HOP.test(name))
      .map(([name, value]) => [name, sendable(value)]),
  );

/** Headers of the request to the platform: the client's, and those that tell where it comes from. */
export function requestHeaders(request: FastifyRequest): Record<string, string | string[] | undefined> {
  const { headers } = request.raw;
  const ofConnection = (headers.connection ?? '').toLowerCase().split(',');
  const dropped = new Set(ofConnection.map((name) => name.trim()));
  // undici sets the platform's own.
  dropped.add('host');
  const kept = Object.entries(headers).filter(
    ([name]) => !FORWARDED.test(name) && !HOP_BY_HOP.test(name) && !dropped.has(name),
  );
  return { ...Object.fromEntries(kept), ...forwardedHeaders(request) };
}

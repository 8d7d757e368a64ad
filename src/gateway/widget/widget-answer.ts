import type { ServerResponse } from 'node:http';
import { allowsSite, siteOf } from '../../services/widgets/domains.rules.js';
import type { AnswerHeaders } from '../answer.js';

const EXPOSED = 'x-request-id, retry-after, retry-after-ms, x-should-retry';
const PREFLIGHT_SECONDS = '86400';

/**
 * The origin that may read a widget's response in a browser: the asking site if the widget's allow-list has it, or `*` if the list is
 * empty or the widget isn't known (`domains` is undefined).
 */
export function readerOf(
  domains: readonly string[] | undefined,
  origin: string | undefined,
): string | undefined {
  if (domains === undefined || domains.length === 0) return '*';
  return origin !== undefined && allowsSite(domains, siteOf(origin)) ? origin : undefined;
}

/** The headers of every widget response. */
export function widgetHeaders(requestId: string, reader: string | undefined): AnswerHeaders {
  const headers: AnswerHeaders = [
    ...['x-request-id', requestId],
    ...['cache-control', 'no-store'],
    ...['x-content-type-options', 'nosniff'],
    ...['cross-origin-resource-policy', 'cross-origin'],
    ...['vary', 'origin'],
  ];
  if (reader !== undefined) {
    headers.push('access-control-allow-origin', reader, 'access-control-expose-headers', EXPOSED);
  }
  return headers;
}

export function answerWidgetPreflight(
  response: ServerResponse,
  requestId: string,
  reader: string | undefined,
): void {
  const headers = widgetHeaders(requestId, reader);
  headers.push(
    ...['access-control-allow-methods', 'GET, POST, OPTIONS'],
    ...['access-control-allow-headers', 'content-type'],
    ...['access-control-max-age', PREFLIGHT_SECONDS],
  );
  response.writeHead(204, headers);
  response.end();
}

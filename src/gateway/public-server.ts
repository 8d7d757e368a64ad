import { type FastifyInstance, fastify } from 'fastify';
import type { Config } from '../config.js';
import { NO_JSON_SCHEMAS } from '../lib/fastify-options.js';
import { newId } from '../lib/ids.js';
import { isWebSocketUpgrade } from '../lib/web-socket-upgrade.js';
import { refuseMalformed } from './client-error.js';
import { originForm, refuseUnroutable } from './request-guard.js';
import type { ResourceLimits } from './resource-limits.js';

/**
 * What a client may leave unread before its upstream waits. Node's default of 64 KiB is one read of the upstream more
 * for each reader that takes nothing.
 */
const SOCKET_BUFFER_BYTES = 16 * 1024;

/** The server of the public port, without routes: its timeouts, and its answers to what isn't HTTP. */
export function publicServer(config: Pick<Config, 'trustProxy'>, bounds: ResourceLimits): FastifyInstance {
  return fastify({
    ...NO_JSON_SCHEMAS,
    // A separate logger for every request costs more than it is worth: log lines name the request themselves.
    logger: false,
    genReqId: newId,
    trustProxy: config.trustProxy.length > 0 ? config.trustProxy : false,
    bodyLimit: 1,
    exposeHeadRoutes: false,
    requestTimeout: bounds.requestTimeoutMs,
    keepAliveTimeout: bounds.keepAliveMs,
    forceCloseConnections: 'idle',
    // While draining, calls on kept-alive connections are still served; the last answer of each closes it.
    return503OnClosing: false,
    routerOptions: { maxParamLength: 2_048 },
    http: {
      headersTimeout: bounds.headersTimeoutMs,
      maxHeaderSize: bounds.maxHeaderBytes,
      connectionsCheckingInterval: bounds.checkIntervalMs,
      // Said in our shape by the guard.
      requireHostHeader: false,
      highWaterMark: SOCKET_BUFFER_BYTES,
      shouldUpgradeCallback: isWebSocketUpgrade,
    },
    rewriteUrl: originForm,
    clientErrorHandler: refuseMalformed,
    frameworkErrors: refuseUnroutable,
  });
}

import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type FastifyInstance, fastify } from 'fastify';
import type { Config } from '../config.js';
import { type ErrorCode, errorBody, errorEntry } from '../errors.js';
import { NO_JSON_SCHEMAS } from '../lib/fastify-options.js';
import { newId } from '../lib/ids.js';
import { isUnanswerable, rawAnswer } from '../lib/raw-answer.js';
import { isWebSocketUpgrade } from '../lib/web-socket-upgrade.js';
import { originForm, refuseUnroutable } from './request-guard.js';
import { RESOURCE_LIMITS, type ResourceLimits } from './resource-limits.js';

/**
 * Bytes that a client may leave unread before its upstream has to wait. Node's default of 64 KiB would buffer one more
 * read of the upstream for each client that reads nothing.
 */
const SOCKET_BUFFER_BYTES = 16 * 1024;

/** The server of the public port, without routes: its timeouts, and its responses to malformed HTTP. */
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
      // The request guard checks the Host header and refuses in the API's error format.
      requireHostHeader: false,
      highWaterMark: SOCKET_BUFFER_BYTES,
      shouldUpgradeCallback: isWebSocketUpgrade,
    },
    rewriteUrl: originForm,
    clientErrorHandler: refuseMalformed,
    frameworkErrors: refuseUnroutable,
  });
}

const seconds = (ms: number): string => `${ms / 1000} s`;
const TOO_SLOW = `The request arrived too slowly: its headers may take ${seconds(RESOURCE_LIMITS.headersTimeoutMs)}, and all of it ${seconds(RESOURCE_LIMITS.requestTimeoutMs)}.`;

/** Connections whose refusal waits for earlier answers. */
const waiting = new WeakSet<Socket>();

/**
 * Refuses malformed HTTP in the API's error format and closes the connection. Complete requests before it are answered first,
 * because they may have been charged.
 */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  if (waiting.has(socket)) return;
  const front = (socket as { _httpMessage?: ServerResponse })._httpMessage;
  if (isUnanswerable(error, socket)) {
    socket.destroy();
    return;
  }
  if (front?.req.complete) {
    waiting.add(socket);
    front.once('close', () => {
      waiting.delete(socket);
      refuseMalformed(error, socket);
    });
    return;
  }
  // The refusal must not be written into the middle of another answer.
  if (front?.headersSent) socket.destroy();
  else socket.end(malformedAnswer(error));
}

function malformedAnswer(error: NodeJS.ErrnoException): string {
  const code: ErrorCode = error.code === 'HPE_HEADER_OVERFLOW' ? 'headers_too_large' : 'invalid_request';
  const status = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : errorEntry(code).status;
  const invalid = { message: status === 408 ? TOO_SLOW : 'The request is not valid HTTP.' };
  return rawAnswer(status, errorBody(code, code === 'invalid_request' ? invalid : {}));
}

import type { IncomingMessage } from 'node:http';

/** Whether a request asks for a WebSocket. Any other upgrade is ignored, as HTTP allows: the request is handled as an ordinary one. */
export function isWebSocketUpgrade({ method, headers }: IncomingMessage): boolean {
  return (
    method === 'GET' &&
    headers.upgrade?.toLowerCase() === 'websocket' &&
    headers['content-length'] === undefined &&
    headers['transfer-encoding'] === undefined
  );
}

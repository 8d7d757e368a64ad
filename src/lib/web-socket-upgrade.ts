import type { IncomingMessage } from 'node:http';

/** Only WebSocket is spoken here. Any other upgrade is ignored, as HTTP allows: the request is an ordinary one. */
export function isWebSocketUpgrade({ method, headers }: IncomingMessage): boolean {
  return (
    method === 'GET' &&
    headers.upgrade?.toLowerCase() === 'websocket' &&
    headers['content-length'] === undefined &&
    headers['transfer-encoding'] === undefined
  );
}

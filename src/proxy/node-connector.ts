import type { TLSSocket } from 'node:tls';
import { buildConnector } from 'undici';

/**
 * Opens connections to one node. Over TLS each resumes the session of the one before, which saves half of a handshake: undici
 * holds sessions weakly, so that the next garbage collection takes those that nobody else holds.
 */
export function nodeConnector(timeoutMs: number): buildConnector.connector {
  const connect = buildConnector({ timeout: timeoutMs });
  const held = new Set<Buffer>();
  return (options, callback) => {
    // undici gives the socket at once, whatever its types say: over TLS 1.2 the session is told before the callback.
    const socket = connect(options, callback) as unknown as TLSSocket;
    socket.on('session', (session: Buffer) => {
      held.clear();
      held.add(session);
    });
  };
}

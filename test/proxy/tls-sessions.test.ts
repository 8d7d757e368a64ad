import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Pool } from 'undici';
import { nodeConnector } from '../../src/proxy/node-connector.js';
import { selfSigned } from '../support/certificate.js';

const ANSWER = 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok';

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

describe('connections of the model proxy to one https node', () => {
  test.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'resume the session of the first one over %s, also behind a garbage collection',
    async (version) => {
      const pair = selfSigned('localhost');
      const authorities = getCACertificates();
      setDefaultCACertificates([pair.cert]);
      const resumed: boolean[] = [];
      const server = createServer({ ...pair, minVersion: version, maxVersion: version }, (socket) => {
        resumed.push(socket.isSessionReused());
        socket.on('error', () => undefined).once('data', () => socket.end(ANSWER));
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const pool = new Pool(`https://localhost:${port}`, { connect: nodeConnector(5_000) });
      try {
        for (let i = 0; i < 4; i++) {
          const { body } = await pool.request({ path: '/', method: 'GET' });
          expect(await body.text()).toBe('ok');
          // A weak reference outlives the turn in which it was made.
          await new Promise((next) => setImmediate(next));
          collectGarbage();
        }
        expect(resumed).toEqual([false, true, true, true]);
      } finally {
        await pool.destroy();
        server.close();
        await once(server, 'close');
        setDefaultCACertificates(authorities);
      }
    },
  );
});

import { open, requestText, statusesOf } from '../hostile/raw.js';
import { useEdge } from '../support/edge-suite.js';
import { until } from '../support/until.js';

const SUBNETS = 8;
const BODY_BYTES = 50_000;

describe('the memory for messages to widgets', () => {
  // One sender alone has room for four such bodies.
  const suite = useEdge({
    env: { TRUST_PROXY: '127.0.0.1/32' },
    bounds: { smallBodyBytes: 300_000, largeBodyBytes: 1_000_000 },
  });

  test('is shared by all /64 networks of one /48', async () => {
    let refused = 0;
    const sockets = Array.from({ length: SUBNETS }, (_, nth) => {
      const headers = [`x-forwarded-for: 2001:db8:7:${nth}::1`, `content-length: ${BODY_BYTES + 1}`];
      const socket = open(suite.edge.url);
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk;
        if (statusesOf(text).includes(503)) refused++;
      });
      socket.write(requestText('POST /api/widget/chat', headers, ' '.repeat(BODY_BYTES)));
      return socket;
    });
    try {
      await until(() => refused > 0);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });
});

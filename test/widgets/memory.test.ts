import type { Socket } from 'node:net';
import { open, requestText, statusesOf } from '../hostile/raw.js';
import { createTestKey, postChat } from '../support/edge.js';
import { useEdge } from '../support/edge-suite.js';
import { until } from '../support/until.js';
import { bodyBytesOf, chatBody } from '../support/upload.js';

const SUBNETS = 8;
const BODY_BYTES = 50_000;
const NETWORKS = 40;
const LARGE_BODY_BYTES = 70_000;

/** A message of which the last byte doesn't come. */
function beginMessage(url: string, address: string, bytes: number): Socket {
  const socket = open(url);
  const headers = [`x-forwarded-for: ${address}`, `content-length: ${bytes + 1}`];
  socket.write(requestText('POST /api/widget/chat', headers, ' '.repeat(bytes)));
  return socket;
}

describe('the memory for messages to widgets', () => {
  // One sender alone has room for four such bodies.
  const suite = useEdge({
    env: { TRUST_PROXY: '127.0.0.1/32' },
    bounds: {
      ...{ smallBodyBytes: 300_000, largeBodyBytes: 1_000_000 },
      widgetBodies: { smallBodyBytes: 300_000, largeBodyBytes: 1_000_000, answerBytes: 0 },
    },
  });

  test('is shared by all /64 networks of one /48', async () => {
    let refused = 0;
    const sockets = Array.from({ length: SUBNETS }, (_, nth) => {
      const socket = beginMessage(suite.edge.url, `2001:db8:7:${nth}::1`, BODY_BYTES);
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk;
        if (statusesOf(text).includes(503)) refused++;
      });
      return socket;
    });
    try {
      await until(() => refused > 0);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });

  test("doesn't reduce the memory for calls, however many networks use it up", async () => {
    const { key } = await createTestKey(suite.db);
    const sockets = Array.from({ length: NETWORKS }, (_, nth) =>
      beginMessage(suite.edge.url, `198.18.${nth}.1`, LARGE_BODY_BYTES),
    );
    try {
      await until(async () => (await bodyBytesOf(suite.edge)) > 600_000, { what: 'most of it to be taken' });
      expect((await postChat(suite.edge.url, key, chatBody(150_000))).status).toBe(200);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });
});

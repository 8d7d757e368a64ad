import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';

/** A webhook as the product delivered it, and the secret that it was signed with. */
async function delivery({ api, keyId }) {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const alerts = `/api/keys/${keyId}/alerts`;
    const destination = `http://127.0.0.1:${server.address().port}/hook`;
    const { id, signing_secret: secret } = await api('POST', alerts, {
      kind: 'webhook',
      destination,
      thresholds_pct: [80],
    });
    const received = once(server, 'request', { signal: AbortSignal.timeout(30_000) });
    await api('POST', `${alerts}/${id}/test`);
    const [request, response] = await received;
    const parts = [];
    for await (const part of request) parts.push(part);
    response.end();
    await api('DELETE', `${alerts}/${id}`);
    return { secret, headers: request.headers, body: Buffer.concat(parts).toString() };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** What a library for verifying signatures must say of a delivery. */
export async function verifies(checks, product, Webhook) {
  const { secret, headers, body } = await delivery(product);
  const verify = (text, changed = {}, by = secret) =>
    new Webhook(by).verify(text, { ...headers, ...changed });
  await checks.check('a delivery verifies', async () => {
    const payload = await verify(body);
    assert.equal(JSON.parse(body).type, 'spend.threshold');
    // Svix's library gives nothing.
    if (payload !== undefined) assert.deepEqual(payload, JSON.parse(body));
  });
  const refused = (name, run) =>
    checks.check(name, () => assert.rejects(async () => run(), /signature|timestamp/i));
  await refused('an altered body is refused', () => verify(`${body} `));
  await refused('another id is refused', () => verify(body, { 'webhook-id': 'msg_other' }));
  await refused('another secret is refused', () =>
    verify(body, {}, `whsec_${Buffer.alloc(24, 7).toString('base64')}`),
  );
  const stale = String(Math.floor(Date.now() / 1000) - 3600);
  await refused('a stale delivery is refused', () => verify(body, { 'webhook-timestamp': stale }));
}

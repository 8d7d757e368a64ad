import { createTestKey } from '../../support/edge.js';
import { useEdge } from '../../support/edge-suite.js';
import { until } from '../../support/until.js';
import { bodyBytesOf, chatBody, Upload } from '../../support/upload.js';

describe('408, a body that comes too slowly', () => {
  const suite = useEdge({
    bounds: { uploadStallMs: 300, checkIntervalMs: 50, uploadBytesPerSecond: 100_000 },
  });

  test.each([
    ['not at all', 0, 200_000],
    ['at once, but for its end', 199_999, 200_000],
    ['at once and in chunks, but for its end', 100_000, undefined],
  ])('%s: it is refused and its memory is free', async (_how, sent, length) => {
    const { key } = await createTestKey(suite.db);
    const upload = await Upload.start(suite.edge.url, key, { length });
    if (sent > 0) {
      upload.send('x'.repeat(sent));
      await until(async () => (await bodyBytesOf(suite.edge)) >= sent);
    }
    const { status, code, text } = await upload.answer();
    expect([status, code]).toEqual([408, 'invalid_request']);
    expect(text).toMatch(/x-request-id: /);
    expect(await bodyBytesOf(suite.edge)).toBe(0);
    if (sent === 0) await until(() => upload.socket.destroyed, { what: 'the connection to be cut' });
    expect(suite.upstream.seen).toHaveLength(0);
  });

  test('is not one that keeps to the least rate, however long it takes', async () => {
    const { key } = await createTestKey(suite.db);
    const body = chatBody(400_000);
    const upload = await Upload.start(suite.edge.url, key, { length: body.length });
    let at = 0;
    await until(
      () => {
        // Four times the rate where each of these is on time.
        upload.send(body.slice(at, at + 8_000));
        at += 8_000;
        return at >= body.length;
      },
      { intervalMs: 20 },
    );
    expect((await upload.answer()).status).toBe(200);
  });
});

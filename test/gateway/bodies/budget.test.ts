import { createTestKey, postChat } from '../../support/edge.js';
import { useEdge } from '../../support/edge-suite.js';
import { until } from '../../support/until.js';
import { bodyBytesOf, chatBody, Upload } from '../../support/upload.js';

const MIB = 2 ** 20;

describe('the budget of bodies', () => {
  const suite = useEdge();

  test('is taken by bytes that have come, not by announced lengths', async () => {
    const attackers = [
      await createTestKey(suite.db, { plan: 'free' }),
      await createTestKey(suite.db, { plan: 'free' }),
    ];
    const uploads = await Promise.all(
      Array.from({ length: 26 }, (_, i) =>
        Upload.start(suite.edge.url, attackers[i % 2]!.key, { length: Math.floor((128 * MIB) / 13) }),
      ),
    );
    for (const upload of uploads) upload.send('{');
    await until(async () => (await bodyBytesOf(suite.edge)) >= 26);
    const victim = await createTestKey(suite.db);
    expect(
      (await postChat(suite.edge.url, victim.key, '{"model":"gateway/fast","messages":[]}')).status,
    ).toBe(200);
    expect((await postChat(suite.edge.url, victim.key, chatBody(10 * MIB))).status).toBe(200);
    for (const { socket } of uploads) socket.destroy();
  });

  test('counts what a body of single bytes takes', async () => {
    const { key } = await createTestKey(suite.db);
    const upload = await Upload.start(suite.edge.url, key, {});
    const before = await bodyBytesOf(suite.edge);
    upload.socket.write('1\r\n \r\n'.repeat(2_000));
    await until(async () => (await bodyBytesOf(suite.edge)) - before >= 2_000 * 200);
    upload.socket.destroy();
  });
});

describe('the budget of bodies, of 1 MB for large ones', () => {
  const suite = useEdge({ bounds: { smallBodyBytes: 300_000, largeBodyBytes: 1_000_000 } });

  /** Uploads that are one byte short of their end. @returns Those that were not refused. */
  const fill = async (key: string, count: number, bytes: number): Promise<Upload[]> => {
    const held: Upload[] = [];
    for (let i = 0; i < count; i++) {
      const before = await bodyBytesOf(suite.edge);
      const upload = await Upload.start(suite.edge.url, key, { length: bytes + 1 });
      upload.send('x'.repeat(bytes));
      await until(
        async () => upload.status !== undefined || (await bodyBytesOf(suite.edge)) >= before + bytes,
      );
      if (upload.status === undefined) held.push(upload);
      else expect(await upload.answer()).toMatchObject({ status: 503, code: 'service_unavailable' });
    }
    return held;
  };
  const nothingHeld = () => until(async () => (await bodyBytesOf(suite.edge)) === 0);

  test('gives one account a fifth of it at most', async () => {
    const greedy = await createTestKey(suite.db);
    const held = await fill(greedy.key, 6, 90_000);
    expect(held).toHaveLength(2);
    const other = await createTestKey(suite.db);
    expect((await postChat(suite.edge.url, other.key, chatBody(150_000))).status).toBe(200);
    for (const { socket } of held) socket.destroy();
    await nothingHeld();
  });

  test('serves ordinary calls while large ones of many accounts fill the rest', async () => {
    const greedy = await Promise.all(Array.from({ length: 12 }, () => createTestKey(suite.db)));
    const held = (await Promise.all(greedy.map(({ key }) => fill(key, 2, 70_000)))).flat();
    await until(async () => (await bodyBytesOf(suite.edge)) > 600_000, { what: 'most of it to be taken' });
    const victim = await createTestKey(suite.db);
    const statuses = await Promise.all(
      Array.from(
        { length: 20 },
        async () => (await postChat(suite.edge.url, victim.key, chatBody(2_000))).status,
      ),
    );
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect((await postChat(suite.edge.url, victim.key, chatBody(200_000))).status).toBe(503);
    for (const { socket } of held) socket.destroy();
    await nothingHeld();
    expect((await postChat(suite.edge.url, victim.key, chatBody(150_000))).status).toBe(200);
  });
});

import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { ServedLink } from '../../src/proxy/link/served-link.js';
import { LinkEnd, opening } from '../support/link-end.js';

describe('a call over a link that fails for a reason of the proxy', () => {
  test('is answered with 500, and the link goes on', async () => {
    const failures: unknown[] = [];
    const failure = new Error('of ours');
    const server = createServer((socket) => {
      new ServedLink(socket, {
        inference: {
          router: () => {
            throw failure;
          },
        } as never,
        access: { refusal: () => undefined } as never,
        onFault: (error) => failures.push(error),
        onFailure: (error) => failures.push(error),
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const end = new LinkEnd(connect((server.address() as AddressInfo).port, '127.0.0.1'));
    const body = '{"model":"gateway/fast"}';
    for (const id of [0, 1]) end.send(opening(id, 'Bearer sk', body.length, body));
    const heads = await end.got('head', 2);
    expect(heads.map(({ payload }) => payload.readUInt16BE(1))).toEqual([500, 500]);
    expect(Buffer.concat(end.of('data').map(({ payload }) => payload)).toString()).not.toContain('of ours');
    await end.got('end', 2);
    expect([failures, end.closed]).toEqual([[failure, failure], false]);
    end.socket.destroy();
    server.close();
  });
});

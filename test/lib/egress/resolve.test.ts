import { RefusedDestination } from '../../../src/lib/egress/destination.js';
import { createEgress } from '../../../src/lib/egress/egress.js';
import { publicResolver } from '../../../src/lib/egress/resolve.js';
import { ownTime } from '../../support/own-time.js';
import { type NameServer, type Reply, startNameServer } from './name-server.js';

const PUBLIC = '93.184.215.14';
const PUBLIC_V6 = '2606:4700:4700:0:0:0:0:1111';

describe('public names', () => {
  let server: NameServer | undefined;
  afterEach(async () => {
    await server?.close();
    server = undefined;
  });
  /** Egress as in production, with a name server of the test. */
  const egressOver = async (reply: (name: string, type: 'A' | 'AAAA', nth: number) => Reply) => {
    const counts = { A: 0, AAAA: 0 };
    server = await startNameServer((name, type) => reply(name, type, ++counts[type]));
    const resolve = publicResolver([server.address]);
    return { egress: createEgress({ allowPrivate: false, resolve }), resolve };
  };

  test('are queried once per address family, and all answers count', async () => {
    const { resolve } = await egressOver((_name, type) => (type === 'A' ? [PUBLIC, '8.8.8.8'] : [PUBLIC_V6]));
    expect((await resolve('hooks.example')).toSorted()).toEqual(['2606:4700:4700::1111', '8.8.8.8', PUBLIC]);
    expect(server!.asked.toSorted()).toEqual(['hooks.example A', 'hooks.example AAAA']);
  });

  test('are refused if they become internal between two queries, since nothing is cached', async () => {
    const { egress } = await egressOver((_name, type, nth) =>
      type === 'AAAA' ? [] : nth === 1 ? [PUBLIC] : ['127.0.0.1'],
    );
    expect(await egress.checkDestination('https://rebinding.example/')).toBeNull();
    await expect(egress.open('https://rebinding.example/')).rejects.toThrow(RefusedDestination);
    expect(server!.asked.filter((question) => question.endsWith(' A'))).toHaveLength(2);
  });

  test.each([
    ['an internal address among public ones', [PUBLIC, '10.0.0.7'], []],
    ['a public address and loopback in the other family', [PUBLIC], ['0:0:0:0:0:0:0:1']],
    ['IPv4 within IPv6', [PUBLIC], ['0:0:0:0:0:ffff:a9fe:a9fe']],
    ['NAT64 alone', [], ['64:ff9b:0:0:0:0:7f00:1']],
    ['the metadata service', ['169.254.169.254'], 'no such name'],
  ] as const)('are refused with %s', async (_what, v4, v6) => {
    const { egress } = await egressOver((_name, type) => (type === 'A' ? v4 : v6));
    expect(await egress.checkDestination('https://mixed.example/')).toBe(
      "resolves to an address that isn't on the public internet",
    );
    await expect(egress.open('https://mixed.example/')).rejects.toThrow(RefusedDestination);
  });

  test("may be saved if they don't exist, and fail at delivery", async () => {
    const { egress } = await egressOver(() => 'no such name');
    expect(await egress.checkDestination('https://not-yet.example/')).toBeNull();
    await expect(egress.open('https://not-yet.example/')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });

  test('may be saved if they are an alias without an address, and fail at delivery', async () => {
    const { egress } = await egressOver(() => ({ alias: 'nowhere.example' }));
    expect(await egress.checkDestination('https://alias.example/')).toBeNull();
    await expect(egress.open('https://alias.example/')).rejects.toThrow('the hostname has no address');
  });

  test("fail within seconds if their servers don't answer", async () => {
    const { egress } = await egressOver(() => 'silence');
    const time = ownTime();
    const began = time.now();
    try {
      await expect(egress.open('https://silent.example/')).rejects.toMatchObject({
        code: expect.stringMatching(/^E(?:TIMEOUT|CANCELLED)$/),
      });
      expect(time.now() - began).toBeLessThan(3_800);
    } finally {
      time.stop();
    }
  });
});

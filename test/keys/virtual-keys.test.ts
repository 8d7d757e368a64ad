import { createVirtualKeyClient, VirtualKeyError } from '../../src/services/keys/virtual-keys.js';
import { type Behaviour, type KeyProxy, MASTER_KEY, startKeyProxy } from './fixtures.js';

describe('the client for virtual keys', () => {
  let proxy: KeyProxy;
  beforeEach(async () => {
    proxy = await startKeyProxy();
  });
  afterEach(() => proxy.close());

  /** Only an answer that never comes is given up soon: on a busy machine any other may take long. */
  const client = (masterKey = MASTER_KEY, timeoutMs = 30_000) =>
    createVirtualKeyClient({ url: proxy.url, masterKey, timeoutMs });

  test('creates keys for an account and removes them; removing none makes no request', async () => {
    const key = await client().generate({ accountId: 'account-1', alias: 'alias-1' });
    expect([...proxy.keys]).toEqual([[key, 'account-1']]);
    expect(proxy.aliases).toEqual(['alias-1']);
    await client().remove([]);
    expect(proxy.calls).toEqual(['/key/generate']);
    await client().remove([key]);
    expect(proxy.keys.size).toBe(0);
  });

  test('a key that is already gone counts as removed', async () => {
    await expect(client().remove(['sk-virtual-gone'])).resolves.toBeUndefined();
  });

  test.each<[Behaviour, RegExp]>([
    ['refuses', /responded with 500/],
    ['hangs', /did not answer within 200 ms/],
    ['trickles', /did not answer within 200 ms/],
    ['garbage', /without a virtual key/],
    ['wrong shape', /without a virtual key/],
    ['floods', /response that is too large/],
    ['hangs up', /could not be reached/],
  ])('a proxy that %s causes an error without key and address', async (behaviour, message) => {
    proxy.behaviour = behaviour;
    const never = behaviour === 'hangs' || behaviour === 'trickles';
    const error = await client(MASTER_KEY, never ? 200 : undefined)
      .generate({ accountId: 'account-1', alias: 'alias-1' })
      .catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(VirtualKeyError);
    const { message: text, stack, cause } = error as VirtualKeyError;
    expect(text).toMatch(message);
    expect(cause).toBeUndefined();
    const { port } = new URL(proxy.url);
    for (const secret of [MASTER_KEY, 'sk-virtual', '10.0.0.5', '127.0.0.1', port]) {
      expect(`${text}\n${stack}`).not.toContain(secret);
    }
  });

  test('a master key that the proxy refuses is an error', async () => {
    await expect(client('wrong').generate({ accountId: 'a', alias: 'b' })).rejects.toThrow(
      'responded with 401',
    );
    await expect(client('wrong').remove(['x'])).rejects.toThrow('responded with 401');
  });

  test('a proxy that is down causes an error at once', async () => {
    const down = createVirtualKeyClient({
      url: 'http://127.0.0.1:1',
      masterKey: MASTER_KEY,
      timeoutMs: 5_000,
    });
    await expect(down.generate({ accountId: 'a', alias: 'b' })).rejects.toThrow(
      'could not be reached (ECONNREFUSED)',
    );
  });
});

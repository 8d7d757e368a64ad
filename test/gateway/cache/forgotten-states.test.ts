import { KeyStates } from '../../../src/inference/keys/key-states.js';
import { createEnvelope } from '../../../src/lib/crypto.js';
import { createLogger } from '../../../src/lib/logger.js';
import { DOLLAR } from '../../../src/lib/money.js';
import { TEST_SECRETS } from '../../support/secrets.js';

const ROW = {
  hash: 'hash',
  keyId: 'key',
  accountId: 'account',
  active: true,
  dailyLimit: null,
  virtualKeySealed: null,
  balance: DOLLAR,
  ledgerSeq: 1n,
  requestsPerMinute: 20,
  allowedModels: [],
  spendToday: 0n,
  guard: null,
};

/** A call may hold and charge a moment after the entry that it was admitted by is gone from the cache. */
describe('what is known of an account', () => {
  const states = () =>
    new KeyStates({
      envelope: createEnvelope('virtual-key', TEST_SECRETS.ENCRYPTION_KEY),
      log: createLogger('test', 'silent'),
    });

  test('is not forgotten at the first sweep that finds no key of it, but at the second', () => {
    const known = states();
    const { account, day } = known.enter(ROW, 0, undefined);
    known.sweep([]);
    expect(known.account('account')).toBe(account);
    expect(known.keyDay('key')).toBe(day);
    expect(known.enter(ROW, 0, undefined).account).toBe(account);
    known.sweep([]);
    expect(known.account('account')).toBe(account);
    known.sweep([]);
    expect([known.account('account'), known.keyDay('key')]).toEqual([undefined, undefined]);
  });

  test('is kept as long as there is money on it', () => {
    const known = states();
    const { account } = known.enter(ROW, 0, undefined);
    account.charge(DOLLAR);
    for (let i = 0; i < 5; i++) known.sweep([]);
    expect(known.account('account')).toBe(account);
    account.charge(-DOLLAR);
    known.sweep([]);
    expect(known.account('account')).toBe(account);
    known.sweep([]);
    expect(known.size).toBe(0);
  });
});

import { Accounts } from '../../../src/inference/accounts.js';
import { DOLLAR } from '../../../src/lib/money.js';

const ROW = { accountId: 'account', balance: DOLLAR, ledgerSeq: 1n, requestsPerMinute: 20 };

/** A call may hold and charge a moment after the entry that it was admitted by is gone from the cache. */
describe('what is known of an account', () => {
  const sweep = (accounts: Accounts) => accounts.sweep(() => false);

  test('is not forgotten at the first sweep that finds no row of it, but at the second', () => {
    const accounts = new Accounts();
    const account = accounts.observe(ROW, 0);
    sweep(accounts);
    expect(accounts.get('account')).toBe(account);
    expect(accounts.observe(ROW, 0)).toBe(account);
    sweep(accounts);
    expect(accounts.get('account')).toBe(account);
    sweep(accounts);
    expect(accounts.get('account')).toBeUndefined();
  });

  test('is kept as long as a row of it is, or there is money on it', () => {
    const accounts = new Accounts();
    const account = accounts.observe(ROW, 0);
    for (let i = 0; i < 5; i++) accounts.sweep((id) => id === 'account');
    expect(accounts.get('account')).toBe(account);
    account.charge(DOLLAR);
    for (let i = 0; i < 5; i++) sweep(accounts);
    expect(accounts.get('account')).toBe(account);
    account.charge(-DOLLAR);
    sweep(accounts);
    expect(accounts.get('account')).toBe(account);
    sweep(accounts);
    expect(accounts.get('account')).toBeUndefined();
  });
});

import { Accounts } from '../../../src/inference/accounts.js';
import { DOLLAR } from '../../../src/lib/money.js';

const ROW = { accountId: 'account', balance: DOLLAR, ledgerSeq: 1n, requestsPerMinute: 20 };

/** A call may hold and charge a moment after its entry is gone from the cache. */
describe("an account's state", () => {
  const sweep = (accounts: Accounts) => accounts.sweep(() => false);

  test('a state is forgotten at the second sweep without a row, not at the first', () => {
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

  test('a state is kept while a row of the account is cached or a charge is pending', () => {
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

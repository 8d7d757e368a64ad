import { openPseudonymKey } from '../../src/services/accounts/pseudonym-key.store.js';
import { createPseudonyms } from '../../src/services/accounts/pseudonyms.rules.js';
import { mailLinkUrl } from '../../src/services/alerts/mail-links.rules.js';
import { expectAccessible } from '../support/axe.js';
import { describeInBrowser, useBrowser } from '../support/browser.js';
import { testConfig } from '../support/platform.js';
import { useProduct } from '../support/product-suite.js';
import { openAs } from './dashboard.js';

/** Through the edge and with a session: the page's form is a same-site write. */
describeInBrowser('the links in mails', () => {
  const browser = useBrowser();
  const suite = useProduct();

  test('ask first, and act when the button is clicked', async () => {
    const user = await suite.signUp('free');
    const key = await openPseudonymKey(suite.db.orm.em.fork(), testConfig(suite.db.url));
    const names = createPseudonyms(key);
    const link = { accountId: user.accountId, recipientHash: names.mailbox('friend@example.com') };
    const stored = async () => {
      const { rows } = await suite.db.pool.query<{ confirmed: boolean; stopped: boolean }>(
        `select confirmed_at is not null as confirmed, stopped_at is not null as stopped
         from mail_recipients where account_id = $1`,
        [user.accountId],
      );
      return rows;
    };
    const page = await openAs(browser, suite, user, '/dashboard');
    await page.goto(mailLinkUrl(names, '', 'confirm', link));
    await expectAccessible(page);
    expect(await stored()).toEqual([]);
    await page.getByRole('button', { name: 'Confirm this address' }).click();
    await page.getByRole('heading', { name: 'Confirmed' }).waitFor();
    expect(await stored()).toEqual([{ confirmed: true, stopped: false }]);
    await page.goto(mailLinkUrl(names, '', 'stop', link));
    await page.getByRole('button', { name: 'Stop these emails' }).click();
    await page.getByRole('heading', { name: 'Stopped' }).waitFor();
    await expectAccessible(page);
    expect(await stored()).toEqual([{ confirmed: true, stopped: true }]);
  });
});

import { openPseudonymKey } from '../../../src/services/accounts/pseudonym-key.store.js';
import { createPseudonyms } from '../../../src/services/accounts/pseudonyms.rules.js';
import type { DeliveryWorker } from '../../../src/services/alerts/delivery-worker.js';
import { createMailSender } from '../../../src/services/alerts/mail-sender.js';
import { faultsOf } from '../../pages/html-faults.js';
import { usePlatform } from '../../support/platform-suite.js';
import { type EventColumns, type EventRow, ended, fire, type Subscribed, subscribe } from './fixtures.js';
import { type Mail, type Mailbox, startMailbox } from './mailbox.js';
import { startWorker } from './support.js';

const ONE_CLICK = 'List-Unsubscribe=One-Click';
const FORM = 'application/x-www-form-urlencoded';
/** As RFC 8058 allows it beside the form. */
const MULTIPART = `--x\r\ncontent-disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--x--\r\n`;
const LOW_BALANCE = {
  ...{ purpose: 'low_balance', key_id: null, subscription_id: null, key_name: null, key_prefix: null },
  ...{ threshold_pct: null, billing_month: null, spend: null, monthly_limit: null, balance: '0.5' },
};

describe('emails to an address', () => {
  // Its worker delivers whatever waits in the database.
  const suite = usePlatform({ own: true });
  let mailbox: Mailbox;
  let worker: DeliveryWorker;
  beforeAll(async () => {
    mailbox = await startMailbox();
    const names = createPseudonyms(await openPseudonymKey(suite.db.orm.em.fork(), suite.platform.config));
    const mail = { smtpUrl: mailbox.url, from: 'alerts@example.com' };
    const email = createMailSender({ mail, baseUrl: suite.url, names });
    // Woken for each mail.
    worker = startWorker(suite.db, { senders: { webhook: null, email }, names, pollMs: 200 });
  });
  afterAll(async () => {
    await worker.stop(5_000);
    await mailbox.close();
  });
  afterEach(async () => {
    mailbox.mails.length = 0;
    await suite.db.pool.query('truncate alert_events, alert_mails, mail_recipients');
  });

  const send = async (to: Subscribed, columns: EventColumns = {}): Promise<EventRow> => {
    const id = await fire(suite.db.pool, to, columns);
    worker.wake();
    return ended(suite.db.pool, id);
  };
  const statuses = async (to: Subscribed, count: number): Promise<string[]> => {
    const rows = [];
    for (let n = 0; n < count; n++) rows.push((await send(to)).delivery_status);
    return rows;
  };
  const subscribed = (address: string) => subscribe(suite.db.pool, address);
  const isOwnMail = ({ accountId }: Subscribed, email: string) =>
    suite.db.pool.query('update accounts set email = $2 where id = $1', [accountId, email]);
  const linkOf = ({ parsed }: Mail, action: 'stop' | 'confirm'): string | undefined =>
    parsed
      .text!.split('\n')
      .find((line) => line.includes(`/mail/${action}?`))
      ?.replace(/^[^:]+: /, '');
  const post = (url: string, body = '', type = FORM) =>
    fetch(url, { method: 'POST', headers: { 'content-type': type }, body });

  test('of a stranger are limited to five a day over all accounts and spellings, and the sixth is recorded with its reason', async () => {
    const spellings = ['ab@gmail.com', 'AB@gmail.com', 'a.b+x@gmail.com', 'ab+y@googlemail.com'];
    const ids = [];
    for (let n = 0; n < 12; n++) {
      ids.push(await fire(suite.db.pool, await subscribed(spellings[n % spellings.length]!)));
    }
    const rows = await Promise.all(ids.map((id) => ended(suite.db.pool, id)));
    const left = rows.filter(({ delivery_status }) => delivery_status === 'degraded');
    expect([mailbox.mails.length, left.length]).toEqual([5, 7]);
    expect(left[0]).toMatchObject({
      attempts: 0,
      error_message: expect.stringMatching(/^Recorded, not emailed: .* confirmed .* at most 5 emails/),
    });
  });

  test("of the account don't count toward the stranger's limit, even for a low balance", async () => {
    const own = await subscribed('me+alerts@example.com');
    await isOwnMail(own, 'Me@example.com');
    expect(await statuses(own, 6)).toEqual(Array(6).fill('sent'));
    expect((await send(own, LOW_BALANCE)).delivery_status).toBe('sent');
    expect(linkOf(mailbox.mails[0]!, 'confirm')).toBeUndefined();
    expect(linkOf(mailbox.mails[0]!, 'stop')).toBeDefined();
  });

  test('of accounts that own another spelling of it share a limit of five, and leave its owner a separate limit', async () => {
    const owner = await subscribed('owner@example.com');
    await isOwnMail(owner, 'owner@example.com');
    const sent = [];
    for (let n = 0; n < 5; n++) {
      const other = await subscribed('owner@example.com');
      await isOwnMail(other, `owner+${n}@example.com`);
      sent.push(...(await statuses(other, 10)).filter((status) => status === 'sent'));
    }
    expect(sent).toHaveLength(5);
    expect(linkOf(mailbox.mails[0]!, 'confirm')).toBeDefined();
    expect(await statuses(owner, 2)).toEqual(['sent', 'sent']);
  });

  test('that it has confirmed all arrive, and those of another account up to a limit', async () => {
    const first = await subscribed('ops@example.com');
    expect(await statuses(first, 1)).toEqual(['sent']);
    const link = linkOf(mailbox.mails[0]!, 'confirm')!;
    // Whoever only opens the link, as filters of mail do, confirms nothing.
    const page = await fetch(link);
    expect([page.status, page.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(await page.text()).toContain('<form method="post">');
    await fetch(link, { method: 'HEAD' });
    expect(await statuses(first, 5)).toEqual(['sent', 'sent', 'sent', 'sent', 'degraded']);
    for (let time = 0; time < 2; time++) {
      const done = await post(link);
      expect([done.status, await done.text()]).toEqual([200, expect.stringContaining('Confirmed')]);
    }
    expect(await statuses(first, 6)).toEqual(Array(6).fill('sent'));
    expect(linkOf(mailbox.mails.at(-1)!, 'confirm')).toBeUndefined();
    const other = await subscribed('ops@example.com');
    const sent = (await statuses(other, 17)).filter((status) => status === 'sent');
    // Five of the twenty were of the first, before it was confirmed.
    expect(sent).toHaveLength(15);
  });

  test.each([
    ['as a form', FORM, ONE_CLICK],
    ['as multipart', 'multipart/form-data; boundary=x', MULTIPART],
    ['without a body', FORM, ''],
  ])('end with one click in the mail program, %s, for that account alone', async (_how, type, body) => {
    const [stopped, other] = [await subscribed('v@example.com'), await subscribed('v@example.com')];
    await send(stopped);
    const { headers } = mailbox.mails[0]!.parsed;
    const header = (name: string) => headers.find(({ key }) => key === name)?.value;
    expect(header('list-unsubscribe-post')).toBe(ONE_CLICK);
    const url = /^<(http.*)>$/.exec(header('list-unsubscribe')!)![1]!;
    expect(url).toBe(linkOf(mailbox.mails[0]!, 'stop'));
    expect((await fetch(url)).status).toBe(200);
    expect((await send(stopped)).delivery_status).toBe('sent');
    for (let time = 0; time < 2; time++) expect((await post(url, body, type)).status).toBe(200);
    expect(await send(stopped)).toMatchObject({
      delivery_status: 'degraded',
      attempts: 0,
      error_message: "Recorded, not emailed: the recipient has unsubscribed from this account's emails.",
    });
    expect((await send(other)).delivery_status).toBe('sent');
    expect(mailbox.mails).toHaveLength(3);
  });

  test("that it has stopped aren't restored by the link of an earlier one", async () => {
    const to = await subscribed('v@example.com');
    await send(to);
    const [stop, confirm] = (['stop', 'confirm'] as const).map(
      (action) => linkOf(mailbox.mails[0]!, action)!,
    );
    expect(await (await post(stop!)).text()).toContain('You won’t receive any more emails');
    const page = await (await post(confirm!)).text();
    expect(page).toContain('You have stopped these emails');
    expect(page).not.toContain('You will receive');
    const { rows } = await suite.db.pool.query('select confirmed_at from mail_recipients');
    expect(rows).toEqual([{ confirmed_at: null }]);
    expect((await send(to)).delivery_status).toBe('degraded');
  });

  test('end between two attempts of one email when it is stopped then', async () => {
    const to = await subscribed('v@example.com');
    await send(to);
    const link = linkOf(mailbox.mails[0]!, 'stop')!;
    mailbox.refuse({ at: 'data', code: 451, meanwhile: () => post(link) });
    expect(await send(to)).toMatchObject({
      delivery_status: 'degraded',
      attempts: 1,
      error_message: expect.stringContaining('has unsubscribed'),
    });
    expect(mailbox.mails).toHaveLength(1);
  });

  test('are limited to fifty a day per account, and the attempts of one email count once', async () => {
    const to = await subscribed('me@example.com');
    await isOwnMail(to, 'me@example.com');
    mailbox.refuse({ at: 'data', code: 451 }, { at: 'data', code: 451 });
    expect(await send(to)).toMatchObject({ delivery_status: 'sent', attempts: 3 });
    const counted = await suite.db.pool.query('select 1 from alert_mails');
    expect(counted.rowCount).toBe(1);
    await suite.db.pool.query(
      `insert into alert_mails (event_id, series, account_id, recipient_hash, standing)
       select gen_random_uuid(), 0, $1, n::text, 'stranger' from generate_series(1, 48) n`,
      [to.accountId],
    );
    expect((await send(to)).delivery_status).toBe('sent');
    for (const columns of [{}, LOW_BALANCE]) {
      expect(await send(to, columns)).toMatchObject({
        delivery_status: 'degraded',
        error_message: 'Recorded, not emailed: an account sends at most 50 emails in 24 hours.',
      });
    }
    await suite.db.pool.query(`update alert_mails set admitted_at = now() - interval '25 hours'`);
    expect((await send(to)).delivery_status).toBe('sent');
  });

  test.each(['disabled', 'deleted'])(
    'end with the attempt in progress when the account is %s',
    async (how) => {
      const to = await subscribed('v@example.com');
      const columns = how === 'disabled' ? `status = 'disabled'` : 'deleted_at = now()';
      const meanwhile = () =>
        suite.db.pool.query(`update accounts set ${columns} where id = $1`, [to.accountId]);
      mailbox.refuse({ at: 'rcpt', code: 451, meanwhile });
      expect(await send(to)).toMatchObject({
        delivery_status: 'failed',
        attempts: 1,
        error_message: expect.stringMatching(/^Not sent: the account was disabled/),
      });
      expect(await send(to)).toMatchObject({ delivery_status: 'failed', attempts: 0 });
      expect(mailbox.mails).toEqual([]);
    },
  );

  test("have links that can't be forged: for another action, account or address they do nothing", async () => {
    const to = await subscribed('v@example.com');
    await send(to);
    const [stop, confirm] = (['stop', 'confirm'] as const).map(
      (action) => linkOf(mailbox.mails[0]!, action)!,
    );
    const token = new URL(stop!).searchParams.get('token')!;
    const [account, address, signature] = token.split('.') as [string, string, string];
    const page = (action: string, text: string) =>
      `${suite.url}/mail/${action}?token=${encodeURIComponent(text)}`;
    const forged = [
      page('confirm', token),
      page('stop', new URL(confirm!).searchParams.get('token')!),
      page('stop', `${'0'.repeat(8)}${account.slice(8)}.${address}.${signature}`),
      page('stop', `${account}.${'0'.repeat(64)}.${signature}`),
      page('stop', `${account}.${address}.${'0'.repeat(64)}`),
      page('stop', `${account}.${address}.${signature}.`),
      page('stop', `${account}.${address}.\u0000é`),
      page('stop', `x.${address}.${signature}`),
      `${suite.url}/mail/stop`,
      `${stop}&token=${token}`,
    ];
    for (const url of forged) {
      expect((await fetch(url)).status).toBe(404);
      const answer = await post(url, ONE_CLICK);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    }
    const recipients = await suite.db.pool.query('select 1 from mail_recipients');
    expect(recipients.rowCount).toBe(0);
    for (const link of [stop!, confirm!]) {
      expect(faultsOf(await (await fetch(link)).text())).toEqual([]);
      const answer = await post(link);
      expect([answer.status, faultsOf(await answer.text())]).toEqual([200, []]);
    }
  });
});

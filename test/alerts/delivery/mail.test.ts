import type { DeliveryWorker } from '../../../src/services/alerts/delivery-worker.js';
import { createMailSender } from '../../../src/services/alerts/mail-sender.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { freePort } from '../../support/free-port.js';
import { ownTime } from '../../support/own-time.js';
import { type EventColumns, type EventRow, ended, fire, type Subscribed, subscribe } from './fixtures.js';
import { type Mail, type Mailbox, startMailbox, startSilentServer } from './mailbox.js';
import { names, startWorker, takenAlert, webhookSender } from './support.js';

const BASE = 'https://gateway.example.com';
const FROM = 'Gateway alerts <alerts@gateway.example.com>';

const senderTo = (smtpUrl: string, attemptMs?: number) =>
  createMailSender({ mail: { smtpUrl, from: FROM }, baseUrl: BASE, names, ...(attemptMs && { attemptMs }) });

describe('an alert by email', () => {
  let db: TestDatabase;
  let mailbox: Mailbox;
  let worker: DeliveryWorker;
  let to: Subscribed;
  beforeAll(async () => {
    db = await createTestDatabase();
    mailbox = await startMailbox();
    worker = startWorker(db, { senders: { webhook: null, email: senderTo(mailbox.url) } });
    to = await subscribe(db.pool, 'owner@example.com');
  });
  afterAll(async () => {
    await worker.stop(5_000);
    await mailbox.close();
    await db.close();
  });

  const send = async (columns: EventColumns = {}): Promise<{ id: string; row: EventRow; mail: Mail }> => {
    // Daily limits are not what is tested here.
    await db.pool.query('truncate alert_mails');
    const id = await fire(db.pool, to, columns);
    const row = await ended(db.pool, id);
    return { id, row, mail: mailbox.mails.at(-1)! };
  };

  test('has key and percentage in its subject, and amounts and a link to the key in both bodies', async () => {
    const { id, row, mail } = await send({
      billing_month: '2026-11',
      spend: '1234.5678',
      monthly_limit: '1500',
    });
    expect(row).toMatchObject({
      delivery_status: 'sent',
      attempts: 1,
      response_code: 250,
      error_message: null,
    });
    expect([mail.from, mail.to]).toEqual(['alerts@gateway.example.com', ['owner@example.com']]);
    const { subject, from, to: recipients, text, html, messageId } = mail.parsed;
    expect(subject).toBe('Spend alert: 80% of the monthly limit reached by “production”');
    expect(from).toMatchObject({ address: 'alerts@gateway.example.com', name: 'Gateway alerts' });
    expect(recipients).toMatchObject([{ address: 'owner@example.com' }]);
    expect(messageId).toBe(`<${id}@gateway.example.com>`);
    expect(mail.raw).toMatch(/^Auto-Submitted: auto-generated\r$/m);
    const link = `${BASE}/dashboard/keys/${to.keyId}`;
    for (const fact of [
      'production',
      'sk-pr-abcd…wxyz',
      '80%',
      '2026-11',
      '$1,234.5678',
      '$1,500.00',
      link,
    ]) {
      expect(text).toContain(fact);
      expect(html).toContain(fact);
    }
    expect(html).toContain(`href="${link}"`);
    expect(html).not.toMatch(/<script|<img|src=/);
  });

  test('for a low balance contains the balance and where to add credit', async () => {
    const { mail } = await send({
      ...{ purpose: 'low_balance', key_id: null, subscription_id: null, key_name: null, key_prefix: null },
      ...{
        threshold_pct: null,
        billing_month: null,
        spend: null,
        monthly_limit: null,
        balance: '0.512345678901',
      },
    });
    expect(mail.parsed.subject).toBe('Low balance: $0.512345678901 left');
    for (const body of [mail.parsed.text, mail.parsed.html]) {
      expect(body).toContain('fallen to $0.512345678901');
      expect(body).toContain(`${BASE}/dashboard/billing`);
      // As the page calls it.
      expect(body).toContain('Add credit');
    }
  });

  test.each([
    ['disable', null, 'Key stopped', 'its calls are rejected'],
    ['slow', null, 'Key slowed down', 'a tenth of the requests per minute'],
    ['fallback_model', 'gateway/fast', 'Key moved to another model', 'its calls run on gateway/fast'],
  ])('reports what a guard with the action %s did', async (action, model, subject, done) => {
    const { mail } = await send({
      purpose: 'guard',
      subscription_id: null,
      guard_action: action,
      guard_model_public_name: model,
    });
    expect(mail.parsed.subject).toBe(`${subject}: 80% of the monthly limit reached by “production”`);
    for (const body of [mail.parsed.text, mail.parsed.html]) expect(body).toContain(done);
    expect(mail.parsed.text).not.toContain("doesn't stop calls");
  });

  test('for a test is marked as one', async () => {
    const { mail } = await send({ purpose: 'test' });
    expect(mail.parsed.subject).toBe('Test: Spend alert: 80% of the monthly limit reached by “production”');
    expect(mail.parsed.text).toMatch(/^This is a test: no threshold was reached\./);
  });

  const names = [
    ['x\r\nBcc: victim@example.com', 'x Bcc: victim@example.com'],
    ['x\nX-Injected: 1\n\n<b>body</b>', 'x X-Injected: 1 <b>body</b>'],
    ['x\rSubject: other', 'x Subject: other'],
    ['x\u2028y\u0007z\u0085', 'x y z'],
    ['\u202egnp.exe\u202c', 'gnp.exe'],
    ['Schlüssel 日本語 👩‍💻', 'Schlüssel 日本語 👩‍💻'],
    ['=?utf-8?q?=0d=0aBcc:_a=40b.example?=', '=?utf-8?q?=0d=0aBcc:_a=40b.example?='],
    ['<script>alert(1)</script> & "quotes" \'\'', '<script>alert(1)</script> & "quotes" \'\''],
    ['日'.repeat(5_000), `${'日'.repeat(79)}…`],
  ] as const;
  const cases = names.map(([name, shown]) => [name.slice(0, 40), name, shown] as const);
  test.each(cases)(
    'for the key %j has it in one header line, and escaped in its page',
    async (_short, name, shown) => {
      const { row, mail } = await send({ key_name: name });
      expect(row.delivery_status).toBe('sent');
      const { headers, subject, text, html } = mail.parsed;
      expect(subject).toBe(`Spend alert: 80% of the monthly limit reached by “${shown}”`);
      expect(mail.to).toEqual(['owner@example.com']);
      expect(headers.map(({ key }) => key).toSorted()).toEqual(
        [
          ...[
            'auto-submitted',
            'content-type',
            'date',
            'from',
            'list-unsubscribe',
            'list-unsubscribe-post',
            'message-id',
            'mime-version',
            'subject',
            'to',
          ],
          'x-auto-response-suppress',
        ].toSorted(),
      );
      expect(text).toContain(`Key: ${shown} (`);
      expect(html).toContain(shown.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`));
      expect(html).not.toContain('<script>');
      for (const line of mail.raw.split('\r\n')) expect(line.length).toBeLessThan(998);
    },
  );

  test('refused by the server for good fails at once, and reports only the code', async () => {
    mailbox.refuse({ at: 'rcpt', code: 550 });
    expect((await send()).row).toMatchObject({
      ...{ delivery_status: 'failed', attempts: 1, response_code: 550 },
      error_message: 'The mail server responded with 550.',
    });
    mailbox.refuse({ at: 'data', code: 554 });
    expect((await send()).row).toMatchObject({ delivery_status: 'failed', attempts: 1, response_code: 554 });
  });

  test('refused by the server for now is sent again as the same message', async () => {
    mailbox.refuse({ at: 'data', code: 451 }, { at: 'rcpt', code: 450 });
    const { id, row, mail } = await send();
    expect(row).toMatchObject({
      delivery_status: 'sent',
      attempts: 3,
      response_code: 250,
      error_message: null,
    });
    expect(mail.parsed.messageId).toBe(`<${id}@gateway.example.com>`);
  });

  test('requested again by its owner is another message', async () => {
    const { id, mail } = await send({ redeliveries: 2 });
    expect(mail.parsed.messageId).toBe(`<${id}.2@gateway.example.com>`);
  });

  test('reaches an administrator at a host without a dot', async () => {
    const { row, mail } = await send({ destination: 'admin@localhost' });
    expect([row.delivery_status, mail.to]).toEqual(['sent', ['admin@localhost']]);
  });

  test.each([
    'a@example.com, b@example.com',
    'a@example.com\r\nRCPT TO:<b@example.com>',
    'nobody',
    '<a@example.com>',
  ])('to %j, which is not an address, reaches nobody', async (destination) => {
    const connections = mailbox.connections();
    const { row } = await send({ destination });
    expect(row.error_message).toBe("Not sent: the destination isn't an email address.");
    expect(mailbox.connections()).toBe(connections);
  });

  test("logs in if the server's address contains credentials", async () => {
    const login = { user: 'gateway', pass: 'p@ss:word/1' };
    const guarded = await startMailbox(login);
    expect(await senderTo(guarded.url)(takenAlert(to))).toEqual({ result: 'sent', responseCode: 250 });
    const wrong = senderTo(guarded.url.replace('gateway:', 'other:'));
    expect(await wrong(takenAlert(to))).toEqual({
      ...{ result: 'failed', responseCode: 535, error: 'The mail server responded with 535.' },
    });
    expect(guarded.mails).toHaveLength(1);
    await guarded.close();
  });

  test('may succeed later when the server is unavailable or silent', async () => {
    expect(await senderTo(`smtp://127.0.0.1:${await freePort()}`)(takenAlert(to))).toEqual({
      ...{ result: 'again', responseCode: null },
      error: 'The connection to the mail server failed (ESOCKET).',
    });
    const silent = await startSilentServer();
    const time = ownTime();
    const began = time.now();
    expect(await senderTo(silent.url, 300)(takenAlert(to))).toEqual({
      ...{
        result: 'again',
        responseCode: null,
        error: 'No response from the mail server within 0.3 seconds.',
      },
    });
    expect(time.now() - began).toBeLessThan(2_000);
    time.stop();
    await silent.close();
  });

  test('is recorded as degraded without a configured mail server', async () => {
    const own = await createTestDatabase();
    const unconfigured = startWorker(own, { senders: { webhook: webhookSender(), email: null } });
    const id = await fire(own.pool, await subscribe(own.pool, 'owner@example.com'));
    expect(await ended(own.pool, id)).toMatchObject({
      ...{ delivery_status: 'degraded', attempts: 0, response_code: null },
      error_message: 'Recorded, not emailed: no mail server is configured on this installation (SMTP_URL).',
      finished_at: expect.any(Date),
    });
    await unconfigured.stop(1_000);
    await own.close();
  });
});

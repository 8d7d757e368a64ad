import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { call } from '../../support/api.js';
import { freePort } from '../../support/free-port.js';
import { INHERITED_ENV } from '../../support/inherited-env.js';
import { usePlatform } from '../../support/platform-suite.js';
import { TEST_SECRETS } from '../../support/secrets.js';
import { until } from '../../support/until.js';
import { ended, fire, type Subscribed, subscribe } from './fixtures.js';
import { type Received, startReceiver } from './receiver.js';
import { startWorker, webhookSender } from './support.js';

const plain = (html: string): string =>
  html.replace(/&#(\d+);/g, (_all, number: string) => String.fromCharCode(Number(number)));

const LANGUAGES = [
  ['Node', '// webhook.mjs:', process.execPath, 'webhook.mjs'],
  ['Python', '# webhook.py:', 'python3', 'webhook.py'],
] as const;

describe('/docs/webhooks', () => {
  // Its workers deliver whatever waits in the database.
  const suite = usePlatform({ own: true });
  let page: string;
  const folder = mkdtempSync(join(tmpdir(), 'gateway-webhooks-'));
  beforeAll(async () => {
    page = (await call(suite.url, 'GET', '/docs/webhooks')).text;
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  const blocks = () =>
    [...page.matchAll(/<pre[^>]*><code>([\s\S]*?)<\/code>/g)].map(([, block]) => plain(block!));

  test('is a page of this site alone, reached from /docs', async () => {
    expect((await call(suite.url, 'GET', '/docs')).text).toContain('href="/docs/webhooks"');
    // Its own address for search engines, and what the page is about, which is data.
    const rest = page
      .replace(/<link rel="canonical" href="[^"]*\/docs\/webhooks">/, '')
      .replace(/<script type="application\/ld\+json">[^<]*<\/script>/, '');
    expect(rest).not.toMatch(/(?:src|href)="https?:|<script\b[^>]*>[^<]|style="/);
    for (const id of ['event', 'headers', 'verifying', 'delivery', 'destinations']) {
      expect(page).toContain(`<section id="${id}">`);
    }
  });

  test('shows body and headers as they are sent', async () => {
    const receiver = await startReceiver();
    const worker = startWorker(suite.db);
    await ended(
      suite.db.pool,
      await fire(suite.db.pool, await subscribe(suite.db.pool, `${receiver.url}/ok`)),
    );
    await worker.stop(1_000);
    await receiver.close();
    const { body, rawHeaders } = receiver.requests[0] as Received;
    const shown = JSON.parse(blocks()[0]!) as Record<string, unknown>;
    const sent = JSON.parse(body.toString()) as Record<string, unknown>;
    expect(Object.entries(shown).map(([name, value]) => [name, typeof value])).toEqual(
      Object.entries(sent).map(([name, value]) => [name, typeof value]),
    );
    const transport = ['host', 'connection', 'content-length'];
    const names = rawHeaders.filter(
      (name, index) => index % 2 === 0 && !transport.includes(name.toLowerCase()),
    );
    const documented = [...page.matchAll(/<tr><td><code>([\w-]+)<\/code><\/td>/g)].map(([, name]) => name);
    expect(documented).toEqual(names);
  });

  describe.each(LANGUAGES)('its receiver in %s', (_language, begin, command, file) => {
    let child: ChildProcess;
    let output = '';
    let to: Subscribed;
    let url: string;
    beforeAll(async () => {
      const source = blocks().find((block) => block.startsWith(begin));
      writeFileSync(join(folder, file), source!);
      const port = await freePort();
      url = `http://127.0.0.1:${port}/hook`;
      // The second secret: one that is about to be dropped.
      const [now, before] = [1, 2].map(() => `whsec_${randomBytes(24).toString('base64')}`);
      to = await subscribe(suite.db.pool, url, { secret: `${now} ${before}` });
      child = spawn(command, [join(folder, file)], {
        env: {
          ...INHERITED_ENV,
          PORT: String(port),
          SIGNING_SECRET: before,
          OPERATOR_SECRET: TEST_SECRETS.WEBHOOK_SECRET,
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      child.stdout!.on('data', (chunk) => (output += chunk));
      await until(
        () =>
          fetch(url).then(
            () => true,
            () => false,
          ),
        { what: 'the receiver to listen' },
      );
    });
    afterAll(async () => {
      child.kill();
      await until(() => child.exitCode !== null || child.signalCode !== null);
    });

    /** A real delivery by a worker whose clock is off by so many seconds. */
    const deliver = async (offSeconds: number, operatorSecret: string = TEST_SECRETS.WEBHOOK_SECRET) => {
      const clock = { now: () => Date.now() + offSeconds * 1000 };
      const worker = startWorker(suite.db, {
        senders: { webhook: webhookSender({ clock, operatorSecret }), email: null },
      });
      const id = await fire(suite.db.pool, to);
      const { delivery_status, response_code } = await ended(suite.db.pool, id);
      await worker.stop(1_000);
      return [delivery_status, response_code];
    };

    test('accepts a real delivery, and one that is slightly late', async () => {
      const lines = output.split('\n').length;
      expect(await deliver(0)).toEqual(['sent', 204]);
      expect(await deliver(-290)).toEqual(['sent', 204]);
      await until(() => output.split('\n').length === lines + 2, { what: 'two new lines of output' });
      expect(output.split('\n')[lines - 1]!.trim()).toBe('sk-pr-abcd…wxyz has spent 80%: $8.123456789');
    });

    test('refuses one that is older than five minutes, or as far in the future', async () => {
      expect(await deliver(-301)).toEqual(['failed', 400]);
      expect(await deliver(310)).toEqual(['failed', 400]);
    });

    test('refuses one with another operator’s signature', async () => {
      expect(await deliver(0, 'the secret of another installation')).toEqual(['failed', 400]);
    });

    test('refuses any other change, and recognises a repetition', async () => {
      const receiver = await startReceiver();
      const worker = startWorker(suite.db);
      await ended(suite.db.pool, await fire(suite.db.pool, { ...to, destination: `${receiver.url}/ok` }));
      await worker.stop(1_000);
      await receiver.close();
      const { headers, body } = receiver.requests[0] as Received;
      const send = async (changes: Record<string, string>, content = body.toString()) => {
        const { host: _host, connection: _connection, 'content-length': _length, ...own } = headers;
        return (await fetch(url, { method: 'POST', headers: { ...own, ...changes }, body: content })).status;
      };
      const lines = output.split('\n').length;
      expect(await send({})).toBe(204);
      expect(await send({})).toBe(204);
      await until(() => output.split('\n').length > lines);
      expect(output.split('\n')).toHaveLength(lines + 1);

      const [first] = headers['webhook-signature']!.split(' ');
      const wrongKey = createHmac('sha256', 'x').update(body).digest('base64');
      const refused = [
        await send({}, body.toString().replace('80', '81')),
        await send({}, `${body} `),
        await send({ 'webhook-id': 'another' }),
        await send({ 'webhook-timestamp': String(Number(headers['webhook-timestamp']) + 1) }),
        await send({ 'webhook-timestamp': '' }),
        await send({ 'webhook-timestamp': 'now' }),
        // Fits the other secret only.
        await send({ 'webhook-signature': first! }),
        await send({ 'webhook-signature': '' }),
        await send({ 'webhook-signature': 'v1,' }),
        await send({ 'webhook-signature': `v1,${wrongKey}` }),
        await send({ 'webhook-signature': headers['webhook-signature']!.replaceAll('v1,', 'v2,') }),
        await send({ 'x-gateway-signature': `sha256=${'0'.repeat(64)}` }),
        await send({ 'x-gateway-signature': '' }),
      ];
      expect(refused).toEqual(refused.map(() => 400));
    });
  });
});

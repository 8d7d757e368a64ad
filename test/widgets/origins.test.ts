import { useEdge } from '../support/edge-suite.js';
import { chat } from '../support/scripted-upstream.js';
import { soonerThan } from '../support/sooner-than.js';
import { until } from '../support/until.js';
import { changeWidget, createTestWidget, refusalOf, say } from './edge-support.js';

const SHOP = 'https://shop.example';

describe('sites and keys of a widget', () => {
  const suite = useEdge();
  beforeEach(() => suite.upstream.answer(chat()));
  const configOf = (publicKey: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`${suite.edge.url}/api/widget/${publicKey}/config`, init);

  test('any site may ask if the list is empty', async () => {
    const { publicKey } = await createTestWidget(suite.db);
    for (const origin of [undefined, 'null', SHOP]) {
      const answer = await say(suite.edge.url, publicKey, origin === undefined ? {} : { origin });
      expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, '*']);
    }
  });

  test('otherwise only sites in the list may', async () => {
    const { publicKey } = await createTestWidget(suite.db, {
      columns: { allowed_domains: ['shop.example', '*.blog.example'] },
    });
    for (const origin of [SHOP, 'http://shop.example:8080', 'https://a.blog.example']) {
      const answer = await say(suite.edge.url, publicKey, { origin });
      expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, origin]);
      expect(answer.headers.get('vary')).toBe('origin');
    }
    const before = suite.upstream.seen.length;
    for (const origin of [undefined, 'null', 'https://blog.example', 'https://evil.example']) {
      const answer = await say(suite.edge.url, publicKey, origin === undefined ? {} : { origin });
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
      expect(await refusalOf(answer)).toEqual([403, 'widget_origin_denied']);
    }
    expect(suite.upstream.seen).toHaveLength(before);
  });

  test('another site is refused before its body is read', async () => {
    const { publicKey } = await createTestWidget(suite.db, {
      columns: { allowed_domains: ['shop.example'] },
    });
    const answer = await say(suite.edge.url, publicKey, {
      origin: 'https://evil.example',
      body: { messages: 1 },
    });
    expect(await refusalOf(answer)).toEqual([403, 'widget_origin_denied']);
  });

  test('the appearance of a widget is public, and nothing else of it', async () => {
    const { publicKey } = await createTestWidget(suite.db, {
      columns: { system_prompt: 'secret', allowed_domains: ['shop.example'] },
    });
    const answer = await configOf(publicKey, { headers: { origin: SHOP } });
    expect(answer.headers.get('access-control-allow-origin')).toBe(SHOP);
    expect(await answer.json()).toEqual({
      name: 'Help',
      greeting_message: 'Hi!',
      placeholder: 'Ask',
      theme: { primary: '#0b5563', position: 'bottom-right' },
    });
    const other = await configOf(publicKey, { headers: { origin: 'https://evil.example' } });
    expect(other.headers.get('access-control-allow-origin')).toBeNull();
  });

  test('preflights are answered', async () => {
    const { publicKey } = await createTestWidget(suite.db, {
      columns: { allowed_domains: ['shop.example'] },
    });
    const headers = { origin: SHOP, 'access-control-request-method': 'POST' };
    const ask = await fetch(`${suite.edge.url}/api/widget/chat`, { method: 'OPTIONS', headers });
    const config = await configOf(publicKey, { method: 'OPTIONS', headers });
    for (const answer of [ask, config]) {
      expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([204, SHOP]);
      expect(answer.headers.get('access-control-allow-headers')).toBe('content-type');
    }
  });

  test('an unknown key is not found', async () => {
    const { publicKey } = await createTestWidget(suite.db);
    for (const key of [`wgt_pr_${'A'.repeat(24)}`, 'nonsense', `${publicKey}x`, '']) {
      expect(await refusalOf(await say(suite.edge.url, key))).toEqual([404, 'widget_not_found']);
    }
    expect(await refusalOf(await say(suite.edge.url, '', { body: { public_key: 7 } }))).toEqual([
      404,
      'widget_not_found',
    ]);
    for (const body of ['[]', 'null', '7']) {
      const answer = await fetch(`${suite.edge.url}/api/widget/chat`, { method: 'POST', body });
      expect(await refusalOf(answer)).toEqual([404, 'widget_not_found']);
    }
    expect(await refusalOf(await configOf('wgt_pr_nobody'))).toEqual([404, 'widget_not_found']);
  });

  test.each([
    ['a rotated key', `public_key = 'wgt_pr_' || substr(md5(random()::text), 1, 24)`],
    ['a deleted widget', `status = 'deleted'`],
  ])('%s stops at once', async (_what, change) => {
    const widget = await createTestWidget(suite.db);
    expect((await say(suite.edge.url, widget.publicKey)).status).toBe(200);
    await changeWidget(suite.db, widget, change);
    // Sooner than a widget in use is read again.
    const ended = async () => (await say(suite.edge.url, widget.publicKey)).status === 404;
    await soonerThan(2_000, ended, 'the end of the key');
  });

  test('a disabled account has no widgets', async () => {
    const widget = await createTestWidget(suite.db);
    expect((await say(suite.edge.url, widget.publicKey)).status).toBe(200);
    await suite.db.pool.query(`update accounts set status = 'disabled' where id = $1`, [widget.accountId]);
    await suite.db.pool.query(`select pg_notify('gateway_invalidate', $1)`, [`account:${widget.accountId}`]);
    const ended = async () => (await say(suite.edge.url, widget.publicKey)).status === 404;
    await soonerThan(2_000, ended, 'the end of the widget');
  });

  test('requests of sites are counted for the owner', async () => {
    const widget = await createTestWidget(suite.db, { columns: { allowed_domains: ['shop.example'] } });
    await say(suite.edge.url, widget.publicKey, { origin: SHOP });
    await say(suite.edge.url, widget.publicKey, { origin: SHOP, body: { messages: [] } });
    await say(suite.edge.url, widget.publicKey, { origin: 'https://evil.example' });
    await say(suite.edge.url, widget.publicKey);
    await until(
      async () => {
        const { rows } = await suite.db.pool.query(
          'select site, outcome, messages::int from widget_site_days where widget_id = $1 order by 1, 2',
          [widget.id],
        );
        return (
          JSON.stringify(rows.map(Object.values)) ===
          JSON.stringify([
            ['', 'widget_origin_denied', 1],
            ['evil.example', 'widget_origin_denied', 1],
            ['shop.example', 'answered', 1],
            ['shop.example', 'validation_error', 1],
          ])
        );
      },
      { what: 'the counts' },
    );
  });
});

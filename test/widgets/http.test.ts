import { randomUUID } from 'node:crypto';
import { call, type ErrorAnswer, PASSWORD, signUp } from '../support/api.js';
import { usePlatform } from '../support/platform-suite.js';
import { type Widget, widgetsApi } from './support.js';

describe('widgets', () => {
  const suite = usePlatform();
  let token = '';
  beforeEach(async () => {
    token = (await signUp(suite.url)).token;
  });
  const api = widgetsApi(
    () => suite.url,
    () => token,
  );

  test('require a name and a model, and have defaults for the rest', async () => {
    const widget = await api.create();
    expect(widget.public_key).toMatch(/^wgt_pr_[A-Za-z0-9_-]{24}$/);
    expect(widget).toEqual({
      id: expect.any(String),
      public_key: widget.public_key,
      name: 'Help',
      model_public_name: 'gateway/fast',
      system_prompt: '',
      prompt_id: null,
      greeting_message: 'Hi! How can I help?',
      placeholder: 'Type a message…',
      theme: { primary: '#0b5563', position: 'bottom-right' },
      allowed_domains: [],
      rate_limit_per_minute: 10,
      daily_message_limit: 200,
      visitor_daily_limit: null,
      verified_history: false,
      loop_detection: false,
      monthly_limit_usd: null,
      fallback_model_public_name: null,
      status: 'active',
      messages_today: 0,
      spend_month_usd: '0.000000',
      created_at: expect.stringMatching(/\.\d{6}Z$/),
    });
    expect(await api.get(widget.id)).toEqual(widget);
    expect(await api.refused('POST', '', {})).toEqual([422, 'validation_error', 'name', 'model_public_name']);
  });

  test('keep names of sites with a meaning to the database', async () => {
    const domains = ['null', 'true', 'shop.example'];
    const widget = await api.create({ allowed_domains: domains });
    expect((await api.get(widget.id)).allowed_domains).toEqual(domains);
    const { allowed_domains: changed } = await api.update(widget.id, { allowed_domains: ['null'] });
    expect([changed, (await api.get(widget.id)).allowed_domains]).toEqual([['null'], ['null']]);
    const { rows } = await suite.db.pool.query('select allowed_domains from widgets where id = $1', [
      widget.id,
    ]);
    expect(rows).toEqual([{ allowed_domains: ['null'] }]);
  });

  test('keep the values they are created with, and change only those in a patch', async () => {
    const input = {
      name: 'Shop',
      system_prompt: 'Sell nothing.',
      greeting_message: 'Welcome',
      placeholder: 'Ask',
      theme: { primary: '#ABCDEF', position: 'bottom-left' },
      allowed_domains: ['shop.example'],
      rate_limit_per_minute: 3,
      daily_message_limit: 7,
      visitor_daily_limit: 2,
      verified_history: true,
      monthly_limit_usd: 2.5,
      fallback_model_public_name: 'gateway/fast',
    };
    const widget = await api.create(input);
    expect(widget).toMatchObject({
      ...input,
      theme: { primary: '#abcdef', position: 'bottom-left' },
      monthly_limit_usd: '2.500000',
    });
    const patched = await api.update(widget.id, { theme: { primary: '#000000' }, monthly_limit_usd: null });
    expect(patched).toEqual({
      ...widget,
      theme: { primary: '#000000', position: 'bottom-left' },
      monthly_limit_usd: null,
    });
    expect(await api.refused('PATCH', `/${widget.id}`, {})).toEqual([422, 'validation_error', 'body']);
    expect(await api.refused('PATCH', `/${widget.id}`, { name: 'x', status: 'deleted' })).toEqual([
      422,
      'validation_error',
      'status',
    ]);
  });

  test('are listed newest first', async () => {
    const first = await api.create({ name: 'first' });
    const second = await api.create({ name: 'second' });
    const list = await api.must<Widget[]>(200, 'GET', '');
    expect(list).toEqual([second, first]);
    expect(await api.must<Widget[]>(200, 'GET', '?limit=1&offset=1')).toEqual([first]);
  });

  test.each([
    [{ theme: { primary: 'red' } }, 'theme.primary'],
    [{ theme: { position: 'top' } }, 'theme.position'],
    [{ rate_limit_per_minute: 0 }, 'rate_limit_per_minute'],
    [{ daily_message_limit: -1 }, 'daily_message_limit'],
    [{ daily_message_limit: 1.5 }, 'daily_message_limit'],
    [{ visitor_daily_limit: 0 }, 'visitor_daily_limit'],
    [{ allowed_domains: ['a b'] }, 'allowed_domains.0'],
    [{ allowed_domains: ['*'] }, 'allowed_domains.0'],
    [{ allowed_domains: Array.from({ length: 51 }, (_, i) => `${i}.example`) }, 'allowed_domains'],
    [{ system_prompt: 'x'.repeat(20_001) }, 'system_prompt'],
    [{ system_prompt: 'a\0b' }, 'system_prompt'],
    [{ system_prompt: 'a\u0001b' }, 'system_prompt'],
    [{ greeting_message: '\u001b[0m' }, 'greeting_message'],
    [{ placeholder: '\u007f' }, 'placeholder'],
    [{ fallback_model_public_name: 'gateway/embed' }, 'fallback_model_public_name'],
    [{ model_public_name: 'gateway/embed' }, 'model_public_name'],
    [{ api_base: 'http://x' }, 'api_base'],
  ])('refuse %j', async (fields, field) => {
    const body = { name: 'Help', model_public_name: 'gateway/fast', ...fields };
    expect(await api.refused('POST', '', body)).toEqual([422, 'validation_error', field]);
  });

  test('saved with control characters, which used to be allowed, can still be read and changed', async () => {
    const { id } = await api.create();
    await suite.db.pool.query('update widgets set system_prompt = $2 where id = $1', [id, 'a\u0001b']);
    const [listed] = await api.must<Widget[]>(200, 'GET', '');
    expect(listed!.system_prompt).toBe('a\u0001b');
    expect((await api.update(id, { name: 'Renamed' })).system_prompt).toBe('a\u0001b');
    const changed = await api.update(id, {
      system_prompt: 'a\tb\r\n',
      expected: { system_prompt: 'a\u0001b' },
    });
    expect(changed.system_prompt).toBe('a\tb\r\n');
  });

  test('answer only with models of the plan', async () => {
    for (const model_public_name of ['gateway/qwen-pro', 'gateway/none']) {
      expect(await api.refused('POST', '', { name: 'Help', model_public_name })).toEqual([
        403,
        'model_not_allowed',
      ]);
    }
    const { id } = await api.create();
    expect(await api.refused('PATCH', `/${id}`, { fallback_model_public_name: 'gateway/qwen-pro' })).toEqual([
      403,
      'model_not_allowed',
    ]);
  });

  test('get a new key by rotation, and are gone for good once deleted', async () => {
    const widget = await api.create();
    const rotated = await api.rotate(widget.id);
    expect(rotated.public_key).not.toBe(widget.public_key);
    expect(rotated).toEqual({ ...widget, public_key: rotated.public_key });
    expect((await api.ask('DELETE', `/${widget.id}`)).status).toBe(204);
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['GET', '/usage', undefined],
      ['PATCH', '', { name: 'again' }],
      ['POST', '/rotate-key', {}],
      ['DELETE', '', undefined],
    ] as const) {
      expect(await api.refused(method, `/${widget.id}${path}`, body)).toEqual([404, 'not_found']);
    }
    expect(await api.must<Widget[]>(200, 'GET', '')).toEqual([]);
  });

  test('are at most 50 per account', async () => {
    for (let i = 0; i < 50; i++) await api.create();
    expect(await api.refused('POST', '', { name: 'Help', model_public_name: 'gateway/fast' })).toEqual([
      422,
      'validation_error',
      'body',
    ]);
  });

  test("of another account don't exist, nor do its prompts", async () => {
    const { id } = await api.create();
    const prompt = await call<{ id: string }>(suite.url, 'POST', '/api/prompts', {
      token,
      body: { name: 'Mine', content: 'Be kind.' },
    });
    token = (await signUp(suite.url)).token;
    expect(await api.refused('GET', `/${id}`)).toEqual([404, 'not_found']);
    expect(await api.refused('PATCH', `/${id}`, { name: 'mine' })).toEqual([404, 'not_found']);
    expect(await api.refused('POST', `/${id}/rotate-key`, {})).toEqual([404, 'not_found']);
    expect(await api.refused('DELETE', `/${id}`)).toEqual([404, 'not_found']);
    expect(await api.refused('GET', `/${id}/usage`)).toEqual([404, 'not_found']);
    const own = await api.create();
    for (const prompt_id of [prompt.body.id, randomUUID(), 'nothing']) {
      expect(await api.refused('PATCH', `/${own.id}`, { prompt_id })).toEqual([404, 'not_found']);
    }
  });

  test('drop a prompt that is deleted', async () => {
    const prompt = await call<{ id: string }>(suite.url, 'POST', '/api/prompts', {
      token,
      body: { name: 'Mine', content: 'Be kind.' },
    });
    const { id } = await api.create({ prompt_id: prompt.body.id });
    expect((await api.get(id)).prompt_id).toBe(prompt.body.id);
    await call(suite.url, 'DELETE', `/api/prompts/${prompt.body.id}`, { token });
    expect((await api.get(id)).prompt_id).toBeNull();
  });

  test('are deleted with their account', async () => {
    const { id } = await api.create();
    await call(suite.url, 'DELETE', '/api/auth/me', { token, body: { password: PASSWORD } });
    const { rows } = await suite.db.pool.query('select from widgets where id = $1', [id]);
    expect(rows).toEqual([]);
  });

  test('have usage for every day in the window', async () => {
    const { id } = await api.create();
    await suite.db.pool.query(
      `insert into widget_days values ($1, (now() at time zone 'UTC')::date, 3, 1, 30, 60, 0.0000012)`,
      [id],
    );
    await suite.db.pool.query(
      `insert into widget_site_days select w.account_id, w.id, (now() at time zone 'UTC')::date, site, outcome, n
       from widgets w, (values ('a.example', 'answered', 3), ('a.example', 'widget_rate_limit', 2),
         ('evil.example', 'widget_origin_denied', 9)) as t(site, outcome, n) where w.id = $1`,
      [id],
    );
    const usage = await api.must<{ daily_breakdown: { date: string }[] }>(200, 'GET', `/${id}/usage`);
    const used = { messages: 3, errors: 1, input_tokens: 30, output_tokens: 60, cost_usd: '0.0000012' };
    const today = new Date().toISOString().slice(0, 10);
    expect(usage).toMatchObject({
      window_days: 7,
      ...used,
      refused: [
        { code: 'widget_origin_denied', count: 9 },
        { code: 'widget_rate_limit', count: 2 },
      ],
      sites: [
        { site: 'a.example', messages: 3, refused: 2 },
        { site: 'evil.example', messages: 0, refused: 9 },
      ],
    });
    expect(usage.daily_breakdown).toHaveLength(7);
    expect(usage.daily_breakdown[6]).toEqual({ date: today, ...used });
    expect(usage.daily_breakdown[0]).toMatchObject({ messages: 0, cost_usd: '0.000000' });
    expect(await api.get(id)).toMatchObject({ messages_today: 3, spend_month_usd: '0.0000012' });
    for (const days of ['0', '91', 'x']) {
      expect(await api.refused('GET', `/${id}/usage?window_days=${days}`)).toEqual([
        422,
        'validation_error',
        'window_days',
      ]);
    }
  });
});

describe('a widget whose prompt is deleted while it is saved', () => {
  let deletePrompt: () => Promise<unknown> = () => Promise.resolve();
  const suite = usePlatform({
    virtualKeys: {
      generate: () => deletePrompt().then(() => 'sk-virtual'),
      remove: () => Promise.resolve(),
    },
  });

  test.each(['POST', 'PATCH'] as const)('is refused, with %s', async (method) => {
    const { token, user } = await signUp(suite.url);
    const api = widgetsApi(
      () => suite.url,
      () => token,
    );
    const widget = await api.create();
    const { body: prompt } = await call<{ id: string }>(suite.url, 'POST', '/api/prompts', {
      token,
      body: { name: 'Mine', content: 'Be kind.' },
    });
    await suite.db.pool.query('update accounts set virtual_key_sealed = null where id = $1', [user.id]);
    deletePrompt = () => suite.db.pool.query('delete from prompts where id = $1', [prompt.id]);
    const refused =
      method === 'POST'
        ? await api.ask<ErrorAnswer>('POST', '', {
            name: 'Help',
            model_public_name: 'gateway/fast',
            prompt_id: prompt.id,
          })
        : await api.ask<ErrorAnswer>('PATCH', `/${widget.id}`, { prompt_id: prompt.id });
    expect([refused.status, refused.body.error.code, refused.body.error.param]).toEqual([
      404,
      'not_found',
      'prompt_id',
    ]);
    expect(await api.must<Widget[]>(200, 'GET', '')).toHaveLength(1);
  });
});

import { randomUUID } from 'node:crypto';
import { call, type ErrorAnswer, escapedJson, PASSWORD, signUp } from '../support/api.js';
import { usePlatform } from '../support/platform-suite.js';
import { type Prompt, promptsApi } from './support.js';

describe('saved prompts', () => {
  const suite = usePlatform();
  let token = '';
  beforeEach(async () => {
    token = (await signUp(suite.url)).token;
  });
  const api = promptsApi(
    () => suite.url,
    () => token,
  );

  test("begin with an active version 1, and a new version isn't activated", async () => {
    const prompt = await api.create({
      description: 'Says hello',
      variables: [{ name: 'name', default: 'you' }],
      config: { model_public_name: 'gateway/fast', temperature: 0.5 },
      notes: 'first',
    });
    expect(prompt).toMatchObject({
      slug: 'greeting',
      description: 'Says hello',
      version_count: 1,
      revision: 1,
    });
    expect(prompt.active_version).toMatchObject({
      id: prompt.active_version_id,
      version: 1,
      variables: [{ name: 'name', description: null, default: 'you' }],
      config: { model_public_name: 'gateway/fast', temperature: 0.5, max_tokens: null, top_p: null },
      notes: 'first',
      warnings: [],
    });
    const second = await api.addVersion(prompt.id);
    expect(second.version).toBe(2);
    const detail = await api.get(prompt.slug);
    expect(detail.active_version.version).toBe(1);
    expect(detail.versions!.map(({ version }) => version)).toEqual([2, 1]);
    expect(detail.versions![1]).toEqual(prompt.active_version);
  });

  test.each([
    ['Crème Brûlée — für 2!', 'creme-brulee-fur-2'],
    ['Straße & Øre', 'strasse-ore'],
    ['  --- ', 'prompt'],
    ['日本', 'prompt'],
    ['x'.repeat(255), 'x'.repeat(80)],
    [`${'a'.repeat(79)} b`, 'a'.repeat(79)],
  ])('have the slug of their name: %s', async (name, slug) => {
    expect((await api.create({ name })).slug).toBe(slug);
  });

  test('have distinct slugs, which never change, and none that looks like an ID', async () => {
    const slugs = [];
    for (const name of ['Same', 'same!', 'SAME', 'same-2']) slugs.push((await api.create({ name })).slug);
    expect(slugs).toEqual(['same', 'same-2', 'same-3', 'same-2-2']);
    const long = 'y'.repeat(200);
    expect((await api.create({ name: long })).slug).toBe('y'.repeat(80));
    expect((await api.create({ name: long })).slug).toBe(`${'y'.repeat(78)}-2`);
    const id = randomUUID();
    expect((await api.create({ name: id })).slug).toBe(`prompt-${id}`);
    const renamed = await api.must<Prompt>(200, 'PATCH', '/same', { name: 'Other' });
    expect([renamed.name, renamed.slug]).toEqual(['Other', 'same']);
  });

  test('are listed newest first, and searched by name, slug and description in any case', async () => {
    for (const name of ['Alpha 100%', 'Beta', 'Gamma_1'])
      await api.create({ name, description: `About ${name}` });
    const names = async (query: string) =>
      (await api.must<Prompt[]>(200, 'GET', `?${query}`)).map(({ name }) => name);
    expect(await names('')).toEqual(['Gamma_1', 'Beta', 'Alpha 100%']);
    expect(await names('limit=1&offset=1')).toEqual(['Beta']);
    expect(await names('search=ABOUT%20b')).toEqual(['Beta']);
    expect(await names('search=%25')).toEqual(['Alpha 100%']);
    expect(await names('search=a_1')).toEqual(['Gamma_1']);
    expect(await names('search=alpha-100')).toEqual(['Alpha 100%']);
  });

  test('warn about undeclared placeholders and unused variables', async () => {
    const { active_version } = await api.create({
      content: '{{ a }} {{b}} {{b}} {{ 9 }} {{{ c }}}',
      variables: [{ name: 'b' }, { name: 'spare' }],
    });
    expect(active_version.warnings.map(({ code, name }) => [code, name])).toEqual([
      ['undeclared_placeholder', 'a'],
      ['undeclared_placeholder', 'c'],
      ['unused_variable', 'spare'],
    ]);
    // A text of thousands of names doesn't make an answer many times as long.
    const names = Array.from({ length: 7_000 }, (_, n) => `{{v${n.toString(36)}}}`)
      .join('')
      .slice(0, 49_000);
    const many = await api.create({ content: names });
    expect(many.active_version.warnings.map(({ name }) => name)).toEqual(
      Array.from({ length: 20 }, (_, n) => `v${n.toString(36)}`),
    );
  });

  test('of another account are answered like missing ones, on every route, and stay unchanged', async () => {
    const prompt = await api.create();
    const second = await api.addVersion(prompt.id);
    const before = await api.get(prompt.id);
    const stranger = (await signUp(suite.url)).token;
    const strange = promptsApi(
      () => suite.url,
      () => stranger,
    );
    const own = await strange.create({ name: 'Own' });
    for (const id of [prompt.id, prompt.slug, randomUUID(), 'not-there', '%00', `${prompt.id}0`]) {
      for (const [method, path, body] of [
        ['GET', ''],
        ['PATCH', '', { name: 'stolen' }],
        ['DELETE', ''],
        ['POST', '/versions', { content: 'x' }],
        ['POST', `/versions/${second.id}/activate`],
        ['POST', '/activations/undo'],
        ['POST', '/render', { variables: {} }],
        ['GET', '/activations'],
        ['GET', '/diff?from=1&to=2'],
        ['GET', `/versions/${second.id}/stats`],
        ['GET', '/compare?first=1&second=2'],
      ] as const) {
        expect([method, path, ...(await strange.refused(method, `/${id}${path}`, body))]).toEqual([
          ...[method, path, 404, 'not_found'],
        ]);
      }
    }
    // Neither does a version of another's prompt belong to one's own.
    expect(await strange.refused('POST', `/${own.id}/versions/${second.id}/activate`)).toEqual([
      404,
      'not_found',
    ]);
    expect(await strange.refused('PATCH', `/${own.id}`, { active_version_id: second.id })).toEqual([
      404,
      'not_found',
    ]);
    expect(await strange.refused('GET', `/${own.id}/versions/${second.id}/stats`)).toEqual([
      404,
      'not_found',
    ]);
    expect(await strange.must(200, 'GET', '')).toHaveLength(1);
    expect(await api.get(prompt.id)).toEqual(before);
  });

  test.each([
    ['no name', { content: 'x' }],
    ['a name that is too long', { name: 'x'.repeat(256), content: 'x' }],
    ['no content', { name: 'x' }],
    ['empty content', { name: 'x', content: '' }],
    ['content that is too long', { name: 'x', content: 'x'.repeat(50_001) }],
    ['NUL', { name: 'x', content: 'a\u0000b' }],
    ['half a character', { name: 'x', content: '\ud800' }],
    ['a control character', { name: 'x', content: 'a\u0001b' }],
    ['a control character in the notes', { name: 'x', content: 'x', notes: '\u001b[0m' }],
    [
      'a control character in a default',
      { name: 'x', content: 'x', variables: [{ name: 'a', default: '\u007f' }] },
    ],
    ['an unknown field', { name: 'x', content: 'x', versions: [] }],
    ['a variable that is no name', { name: 'x', content: 'x', variables: [{ name: '9a' }] }],
    ['a variable twice', { name: 'x', content: 'x', variables: [{ name: 'a' }, { name: 'a' }] }],
    ['NUL in the name of a model', { name: 'x', content: 'x', config: { model_public_name: 'x\0' } }],
    ['a temperature above 2', { name: 'x', content: 'x', config: { temperature: 2.1 } }],
    ['an unknown model', { name: 'x', content: 'x', config: { model_public_name: 'gateway/none' } }],
    ['an embedding model', { name: 'x', content: 'x', config: { model_public_name: 'gateway/embed' } }],
  ])("aren't saved with %s", async (_what, input) => {
    expect(await api.refused('POST', '', input)).toEqual([422, 'validation_error']);
    expect(await api.must(200, 'GET', '')).toEqual([]);
  });

  test('may contain white space of every kind, as texts from PDFs do', async () => {
    const content = 'a\tb\nc\r\nd\fe\vf';
    const { id, active_version } = await api.create({ content: `${content}{{ x }}` });
    expect(active_version.content).toBe(`${content}{{ x }}`);
    const answer = await api.ask<Record<string, unknown>>('POST', `/${id}/render`, {
      variables: { x: content },
    });
    expect(answer.body.rendered_content).toBe(content + content);
  });

  test('are accepted at maximum length, also from clients that escape each character', async () => {
    const content = '\u4e2d'.repeat(50_000);
    const { status } = await fetch(`${suite.url}/api/prompts`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: escapedJson({ name: 'Long', content }),
    });
    expect(status).toBe(201);
    expect((await api.get('long')).active_version.content).toBe(content);
  });

  test('are limited to 200 per account', async () => {
    const { user, token: other } = await signUp(suite.url);
    token = other;
    const first = await api.create();
    await suite.db.pool.query(
      `with more as (
         insert into prompts (id, account_id, slug, name, active_version, last_version, characters, created_at, updated_at)
         select gen_random_uuid(), $1, 'p' || n, 'p', 1, 1, 1, now(), now() from generate_series(2, 200) n returning id)
       insert into prompt_versions (id, prompt_id, version, content, variables, created_at)
       select gen_random_uuid(), id, 1, 'x', '[]', now() from more`,
      [user.id],
    );
    expect(await api.refused('POST', '', { name: 'One more', content: 'x' })).toEqual([
      422,
      'validation_error',
    ]);
    await api.must(204, 'DELETE', `/${first.id}`);
    expect((await api.create({ name: 'Greeting' })).slug).toBe('greeting');
  });

  test('are deleted with their account', async () => {
    const prompt = await api.create();
    await api.addVersion(prompt.id);
    const answer = await call(suite.url, 'DELETE', '/api/auth/me', { token, body: { password: PASSWORD } });
    expect(answer.status).toBe(204);
    const { rows } = await suite.db.pool.query(
      'select (select count(*) from prompts where id = $1)::int + (select count(*) from prompt_versions where prompt_id = $1)::int as n',
      [prompt.id],
    );
    expect(rows).toEqual([{ n: 0 }]);
  });

  describe('rendered', () => {
    const rendered = async (content: string, variables: unknown, declared: object[] = []) => {
      const { id } = await api.create({ content, variables: declared });
      return api.ask<Record<string, unknown> & ErrorAnswer>('POST', `/${id}/render`, { variables });
    };

    test('insert values and defaults, to the byte, and list unused values', async () => {
      const json = '{"a": {"b": "{{ other }}"}, "c": "\\n\\u0000"} $1 $& <b>&amp;</b> 😀';
      const answer = await rendered(
        'A {{ value }} B {{other}} C {{ n }}',
        { value: json, n: 1.5, spare: 'x' },
        [
          { name: 'other', default: 'default' },
          { name: 'value', default: 'not this' },
        ],
      );
      expect(answer).toMatchObject({
        status: 200,
        body: {
          rendered_content: `A ${json} B default C 1.5`,
          version_used: 1,
          unused_variables: ['spare'],
        },
      });
    });

    test('accept __proto__ and constructor like other names', async () => {
      const { id } = await api.create({ content: '{{ __proto__ }} {{ constructor }} {{ toString }}' });
      const missing = await api.ask<ErrorAnswer>('POST', `/${id}/render`, { variables: {} });
      expect(missing.body.error.message).toContain('__proto__, constructor, toString');
      const answer = await api.ask('POST', `/${id}/render`, {
        variables: JSON.parse('{"__proto__": "p", "constructor": "c", "toString": "t"}'),
      });
      expect([answer.status, answer.body]).toMatchObject([
        200,
        { rendered_content: 'p c t', unused_variables: [] },
      ]);
      // Elsewhere such members are refused.
      const refused = await call(suite.url, 'POST', '/api/prompts', {
        token,
        body: JSON.parse('{"name": "x", "content": "x", "__proto__": {"a": 1}}'),
      });
      expect(refused.status).toBe(400);
    });

    test('are refused with the names of all missing variables', async () => {
      const answer = await rendered('{{ b }} {{ a }} {{ c }} {{ b }}', { c: '' });
      expect(answer.status).toBe(400);
      expect(answer.body.error).toMatchObject({
        code: 'missing_variables',
        message: 'Required variables are missing: b, a.',
        details: [{ field: 'variables.b' }, { field: 'variables.a' }],
      });
    });

    test.each([
      ['null', { a: null }],
      ['an object', { a: {} }],
      ['a list', ['a']],
      ['a text', 'a'],
      ['control characters', { a: 'x\u0001' }],
      ['half characters', { a: '\ud800' }],
    ])('accept no %s as values', async (_what, variables) => {
      const answer = await rendered('{{ a }}', variables);
      expect([answer.status, answer.body.error.code]).toEqual([422, 'validation_error']);
    });

    test('are limited to 1 MiB', async () => {
      const content = '{{ a }}'.repeat(7_000);
      expect((await rendered(content, { a: 'x'.repeat(149) })).status).toBe(200);
      const answer = await rendered(content, { a: 'x'.repeat(150) });
      expect([answer.status, answer.body.error.code]).toEqual([422, 'validation_error']);
    });
  });
});

import type { ApiAnswer, ErrorAnswer } from '../support/api.js';
import { usePlatform } from '../support/platform-suite.js';
import { until } from '../support/until.js';
import { writeLongPrompts } from './long-prompts.js';
import { type Prompt, usePromptOwner, type Version } from './support.js';

interface Activation {
  from_version: number;
  to_version: number;
  by: string;
  at: string;
}

describe('versions of a prompt', () => {
  const suite = usePlatform();
  const { owner, api } = usePromptOwner(suite);
  const activations = (id: string): Promise<Activation[]> => api.must(200, 'GET', `/${id}/activations`);
  /** On a busy machine some requests exceed the wait for the account's share of connections, and are repeated. */
  const askAgain = async <T>(method: string, path: string, body?: unknown): Promise<ApiAnswer<T>> => {
    for (;;) {
      const answer = await api.ask<T>(method, path, body);
      if (answer.status !== 503) return answer;
    }
  };

  test('are immutable in the database itself, and deleted only with their prompt', async () => {
    const prompt = await api.create();
    const { pool } = suite.db;
    for (const statement of [
      `update prompt_versions set content = 'changed' where prompt_id = $1`,
      `update prompt_versions set version = 7 where prompt_id = $1`,
      'delete from prompt_versions where prompt_id = $1',
    ]) {
      await expect(pool.query(statement, [prompt.id])).rejects.toMatchObject({ code: '23001' });
    }
    await expect(pool.query('truncate prompt_versions')).rejects.toMatchObject({ code: '23001' });
    expect((await api.get(prompt.id)).versions).toEqual([prompt.active_version]);
    // The active version is one that is there.
    await expect(
      pool.query('update prompts set active_version = 2 where id = $1', [prompt.id]),
    ).rejects.toMatchObject({ code: '23514' });
    await api.must(204, 'DELETE', `/${prompt.id}`);
    const { rowCount } = await pool.query('select from prompt_versions where prompt_id = $1', [prompt.id]);
    expect(rowCount).toBe(0);
  });

  test('added a hundred at once are numbered from 1 to 100, and none becomes active', async () => {
    const prompt = await api.create();
    const add = async (content: string): Promise<Version> => {
      const answer = await askAgain<Version>('POST', `/${prompt.id}/versions`, { content });
      expect(answer.status).toBe(201);
      return answer.body;
    };
    const added = await Promise.all(Array.from({ length: 99 }, (_, n) => add(`content ${n}`)));
    const numbers = added.map(({ version }) => version).sort((a, b) => a - b);
    expect(numbers).toEqual(Array.from({ length: 99 }, (_, n) => n + 2));
    const detail = await api.get(prompt.id);
    expect(detail.versions!.map(({ version }) => version)).toEqual(
      Array.from({ length: 100 }, (_, n) => 100 - n),
    );
    expect([detail.active_version.version, detail.revision]).toEqual([1, 100]);
    for (const one of added) {
      expect(detail.versions![100 - one.version]!.content).toBe(one.content);
    }
  }, 60_000);

  test('are added and activated while their prompt is deleted, and each response reports what happened', async () => {
    const prompt = await api.create();
    const second = await api.addVersion(prompt.id);
    const answers = await Promise.all([
      ...Array.from({ length: 8 }, () => askAgain('POST', `/${prompt.id}/versions`, { content: 'x' })),
      ...Array.from({ length: 4 }, () => askAgain('POST', `/${prompt.id}/versions/${second.id}/activate`)),
      askAgain('DELETE', `/${prompt.id}`),
      ...Array.from({ length: 4 }, () =>
        askAgain('POST', `/${prompt.id}/render`, { variables: { name: 'x' } }),
      ),
    ]);
    for (const { status } of answers) expect([200, 201, 204, 404]).toContain(status);
    expect(answers[12]!.status).toBe(204);
    expect(await api.refused('GET', `/${prompt.id}`)).toEqual([404, 'not_found']);
    const { rowCount } = await suite.db.pool.query('select from prompt_versions where prompt_id = $1', [
      prompt.id,
    ]);
    expect(rowCount).toBe(0);
  });

  test('become active by activation or by a patch, and the next render uses them', async () => {
    const prompt = await api.create({ content: 'one' });
    const second = await api.addVersion(prompt.id, { content: 'two' });
    const text = async () =>
      await api.must<{ rendered_content: string; version_used: number; prompt_version_id: string }>(
        200,
        'POST',
        `/${prompt.id}/render`,
        {},
      );
    expect(await text()).toMatchObject({ rendered_content: 'one', version_used: 1 });
    await api.activate(prompt.id, second.id);
    expect(await text()).toMatchObject({
      rendered_content: 'two',
      version_used: 2,
      prompt_version_id: second.id,
    });
    const first = prompt.active_version_id;
    await api.must(200, 'PATCH', `/${prompt.id}`, { active_version_id: first });
    expect(await text()).toMatchObject({ rendered_content: 'one', version_used: 1 });
    expect(
      (await activations(prompt.id)).map(({ from_version: from, to_version: to, by }) => [from, to, by]),
    ).toEqual([
      [2, 1, owner.accountId],
      [1, 2, owner.accountId],
    ]);
  });

  test('that are active already cause no activation, and the last activation can be undone', async () => {
    const prompt = await api.create();
    expect(await api.refused('POST', `/${prompt.id}/activations/undo`)).toEqual([422, 'validation_error']);
    const second = await api.addVersion(prompt.id);
    const third = await api.addVersion(prompt.id);
    await api.activate(prompt.id, second.id);
    const { revision } = await api.activate(prompt.id, third.id);
    expect((await api.activate(prompt.id, third.id)).revision).toBe(revision);
    const undone = await api.must<Prompt>(200, 'POST', `/${prompt.id}/activations/undo`);
    expect(undone.active_version.version).toBe(2);
    expect((await activations(prompt.id)).map(({ to_version: to }) => to)).toEqual([2, 3, 2]);
    expect(await api.must(200, 'GET', `/${prompt.id}/activations?limit=1&offset=1`)).toMatchObject([
      { from_version: 2, to_version: 3 },
    ]);
  });

  test('are activated a thousand times, and the oldest activations are deleted', async () => {
    const prompt = await api.create();
    const second = await api.addVersion(prompt.id);
    await suite.db.pool.query(
      `insert into prompt_activations select $1, n, 1, 2, $2, now() from generate_series(-1500, 0) n`,
      [prompt.id, owner.accountId],
    );
    await api.activate(prompt.id, second.id);
    const { rows } = await suite.db.pool.query(
      'select count(*)::int as n, max(revision) as newest from prompt_activations where prompt_id = $1',
      [prompt.id],
    );
    expect(rows).toEqual([{ n: 1_000, newest: 3 }]);
  });

  test('are changed from an expected revision: of two tabs the later gets an error', async () => {
    const prompt = await api.create();
    const expected_revision = prompt.revision;
    const both = await Promise.all([
      api.ask<Prompt>('PATCH', `/${prompt.id}`, { name: 'Tab one', expected_revision }),
      api.ask<Prompt>('PATCH', `/${prompt.id}`, { name: 'Tab two', expected_revision }),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    const won = both.find(({ status }) => status === 200)!.body;
    expect(await api.get(prompt.id)).toMatchObject({ name: won.name, revision: 2 });
    const second = await api.addVersion(prompt.id);
    const activate = `/${prompt.id}/versions/${second.id}/activate?expected_revision=`;
    expect(await api.refused('POST', `${activate}2`)).toEqual([409, 'changed_meanwhile']);
    expect(await api.refused('POST', `/${prompt.id}/activations/undo?expected_revision=2`)).toEqual([
      409,
      'changed_meanwhile',
    ]);
    await api.must(200, 'POST', `${activate}3`);
    // Without it the last change wins.
    await api.must(200, 'PATCH', `/${prompt.id}`, { description: 'x' });
    expect(await api.refused('PATCH', `/${prompt.id}`, { expected_revision: 5 })).toEqual([
      422,
      'validation_error',
    ]);
  });

  test('are limited to 500 per prompt and 2,000,000 characters in total', async () => {
    const prompt = await api.create();
    await suite.db.pool.query('update prompts set characters = 2000000 - 10 where id = $1', [prompt.id]);
    expect(await api.refused('POST', `/${prompt.id}/versions`, { content: 'x'.repeat(11) })).toEqual([
      422,
      'validation_error',
    ]);
    await api.addVersion(prompt.id, { content: 'x'.repeat(10) });
    await suite.db.pool.query('update prompts set characters = 0, last_version = 500 where id = $1', [
      prompt.id,
    ]);
    expect(await api.refused('POST', `/${prompt.id}/versions`, { content: 'x' })).toEqual([
      422,
      'validation_error',
    ]);
  });

  test('are limited to 20,000,000 characters per account, even when two prompts grow at once', async () => {
    const grown = [await api.create(), await api.create()];
    await writeLongPrompts(suite.db, owner.accountId, 10);
    await suite.db.pool.query(
      `update prompts set characters = case when slug like 'long-%' then 1999000 else 4995 end where account_id = $1`,
      [owner.accountId],
    );
    const add = ({ id }: Prompt, characters: number) =>
      api.ask<ErrorAnswer>('POST', `/${id}/versions`, { content: 'x'.repeat(characters) });
    const refused = await add(grown[0]!, 11);
    expect([refused.status, refused.body.error.code]).toEqual([422, 'validation_error']);
    expect(refused.body.error.message).toMatch(
      /at most 20000000 characters together\. Yours have 19999990, and this version 11\. Delete prompts/,
    );
    expect(await api.refused('POST', '', { name: 'x', content: 'x'.repeat(11) })).toEqual([
      422,
      'validation_error',
    ]);
    // Both wait for the account, so that neither has seen what the other adds.
    const holder = await suite.db.pool.connect();
    let added: ReturnType<typeof add>[] = [];
    try {
      await holder.query('begin');
      await holder.query('select from accounts where id = $1 for no key update', [owner.accountId]);
      added = grown.map((prompt) => add(prompt, 10));
      const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      await until(async () => (await suite.db.pool.query(waiting)).rowCount === 2, { what: 'both to wait' });
    } finally {
      await holder.query('rollback');
      holder.release();
    }
    expect((await Promise.all(added)).map(({ status }) => status).sort()).toEqual([201, 422]);
    expect((await add(grown[0]!, 1)).status).toBe(422);
    await api.must(204, 'DELETE', '/long-1');
    expect((await add(grown[0]!, 1)).status).toBe(201);
  });

  test('are limited to 100,000 characters each, including declarations', async () => {
    const prompt = await api.create();
    const path = `/${prompt.id}/versions`;
    const defaults = (count: number) =>
      Array.from({ length: count }, (_, n) => ({ name: `v${n}`, default: 'x'.repeat(10_000) }));
    // The longest content, whatever it is written in, beside a long default.
    await api.addVersion(prompt.id, { content: '🌳'.repeat(50_000), variables: defaults(1) });
    await api.addVersion(prompt.id, { content: 'x'.repeat(50_000), variables: defaults(4) });
    const refused = await api.ask<ErrorAnswer>('POST', path, {
      content: 'x'.repeat(50_000),
      variables: defaults(5),
    });
    expect([refused.status, refused.body.error.code]).toEqual([422, 'validation_error']);
    expect(refused.body.error.message).toMatch(/at most 100000 characters/);
    const described = Array.from({ length: 100 }, (_, n) => ({
      name: `v${n}`,
      description: 'x'.repeat(500),
    }));
    expect(await api.refused('POST', path, { content: 'x'.repeat(49_900), variables: described })).toEqual([
      422,
      'validation_error',
    ]);
    expect(
      await api.refused('POST', '', { name: 'Long', content: 'x'.repeat(50_000), variables: defaults(5) }),
    ).toEqual([422, 'validation_error']);
  });

  test('are compared word by word, with their declarations', async () => {
    const prompt = await api.create({
      content: 'Dear {{ name }},\nhello.',
      variables: [{ name: 'name' }, { name: 'old' }],
    });
    await api.addVersion(prompt.id, {
      content: 'Dear {{ name }},\ngood day.',
      variables: [{ name: 'name', default: 'you' }, { name: 'fresh' }],
      config: { max_tokens: 5 },
    });
    expect(await api.must(200, 'GET', `/${prompt.id}/diff?from=1&to=2`)).toEqual({
      from_version: 1,
      to_version: 2,
      content: [
        { kind: 'same', text: 'Dear {{ name }},\n' },
        { kind: 'removed', text: 'hello' },
        { kind: 'added', text: 'good day' },
        { kind: 'same', text: '.' },
      ],
      added_variables: ['fresh'],
      removed_variables: ['old'],
      changed_variables: ['name'],
      config_changed: true,
    });
    expect(await api.refused('GET', `/${prompt.id}/diff?from=1&to=3`)).toEqual([404, 'not_found']);
    expect(await api.refused('GET', `/${prompt.id}/diff?from=1&to=x`)).toEqual([422, 'validation_error']);
    expect((await api.must<Version[]>(200, 'GET', `/${prompt.id}/activations`)).length).toBe(0);
  });
});

import { dataOf, operate } from '../graphql/support.js';
import { faultsOf } from '../pages/html-faults.js';
import { call, signUp } from '../support/api.js';
import { useProduct } from '../support/product-suite.js';
import { ask, FAST, QWEN, type Session, writeResponse, writeSession } from './support.js';

interface Sharing {
  share_slug: string;
  public_url: string;
}

describe('a shared session', () => {
  const product = useProduct();
  const hostile = '<img src=x onerror=alert(1)> "quoted" \'single\' & </pre><script>alert(2)</script>';
  let token: string;
  let accountId: string;
  let session: Session;

  beforeAll(async () => {
    ({ token, accountId } = await product.signUp('team'));
    const answer = await ask(product.url, token, [FAST, QWEN], `${hostile} [[sim words=7 tokens=11/13]]`, {
      system_prompt: 'Answer in <b>bold</b>.',
    });
    session = answer.body;
  });

  const share = async (body?: unknown): Promise<Sharing> => {
    const answer = await call<Sharing>(product.url, 'POST', `/api/playground/${session.id}/share`, {
      token,
      body,
    });
    expect(answer.status).toBe(200);
    return answer.body;
  };
  const unshare = () => call(product.url, 'DELETE', `/api/playground/${session.id}/share`, { token });
  const json = (slug: string) => call<Session>(product.url, 'GET', `/api/playground/shared/${slug}`);
  const page = (slug: string) => call(product.url, 'GET', `/p/${slug}`);

  test('has a stable URL: shared again it is the same, and rotated another', async () => {
    const first = await share();
    expect(first).toEqual({
      share_slug: expect.stringMatching(/^[A-Za-z0-9_-]{24}$/),
      public_url: `${product.url}/p/${first.share_slug}`,
    });
    expect(await share({})).toEqual(first);
    expect([(await unshare()).status, (await unshare()).status]).toEqual([204, 204]);
    const kept = await call<Session>(product.url, 'GET', `/api/playground/${session.id}`, { token });
    expect(kept.body).toMatchObject({ shared: false, share_slug: first.share_slug, public_url: null });
    expect(await share()).toEqual(first);
    const second = await share({ rotate: true });
    expect(second.share_slug).not.toBe(first.share_slug);
    expect((await json(first.share_slug)).status).toBe(404);
    expect((await json(second.share_slug)).status).toBe(200);
    expect(await share()).toEqual(second);
  });

  test('is shown completely to everybody, with nothing about its owner', async () => {
    const { share_slug: slug } = await share();
    const { status, body, text, headers } = await json(slug);
    expect(status).toBe(200);
    const { prompt, system_prompt, models, parameters, runs, created_at } = session;
    expect(body).toEqual({ prompt, system_prompt, models, parameters, runs, created_at });
    expect(text).not.toMatch(new RegExp(`${accountId}|${session.id}|@example\\.com|sk-|127\\.0\\.0\\.1`));
    expect([headers.get('cache-control'), headers.get('x-robots-tag')]).toEqual(['no-store', 'noindex']);
    const query = `{ sharedPlaygroundSession(slug: "${slug}") { prompt runs { responseContent } } }`;
    const { sharedPlaygroundSession: shown } = await dataOf<{ sharedPlaygroundSession: unknown }>(
      product.url,
      query,
    );
    expect(shown).toEqual({
      prompt,
      runs: runs.map(({ response_content }) => ({ responseContent: response_content })),
    });
  });

  test('is a page with prompt, answers, served model, tokens, price and date, and none of their HTML', async () => {
    const { share_slug: slug } = await share();
    const { status, text, headers } = await page(slug);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect([headers.get('cache-control'), headers.get('x-robots-tag')]).toEqual(['no-store', 'noindex']);
    expect(headers.get('content-security-policy')).toMatch(/script-src 'self'(?:;|$)/);
    expect(faultsOf(text)).toEqual([]);
    expect(text).toContain('<meta name="robots" content="noindex">');
    // The page's own scripts stand in its head.
    expect(text.slice(text.indexOf('<main'))).not.toMatch(/<script|<img|<b>|style=|onerror=alert\(1\)>/);
    expect(text).toContain('&#60;img src=x onerror=alert(1)&#62;');
    expect(text).toContain('&#60;b&#62;bold&#60;/b&#62;');
    for (const run of session.runs) {
      expect(text).toContain(`<h2>${run.model_public_name}</h2>`);
      expect(text).toContain(`<td>${run.served_model_public_name}</td>`);
      expect(text).toContain(run.response_content!.slice(0, 20));
      expect(text.replaceAll(/<[^>]*>/g, '')).toContain(`$${run.list_cost_usd}`);
    }
    // What is copied is the text as it was written, and "Try it" names nothing but the address.
    expect(text).toContain('data-copy="prompt"');
    expect(text).toContain(`href="/dashboard/playground?slug=${slug}"`);
    expect(text).toContain('<td>11 in, 13 out</td>');
    expect(text).toContain(
      `${session.created_at.slice(0, 10)} ${session.created_at.slice(11, 16)} UTC</time>`,
    );
    expect(text).not.toMatch(new RegExp(`${accountId}|${session.id}|@example\\.com`));
  });

  test('counts one character as one', async () => {
    const { body: short } = await ask(product.url, token, [FAST], '?');
    const url = `/api/playground/${short.id}/share`;
    const { body: shared } = await call<Sharing>(product.url, 'POST', url, { token });
    expect((await page(shared.share_slug)).text).toContain('<figcaption>1 character</figcaption>');
  });

  test('folds thinking before an answer, and says so if there is nothing else', async () => {
    const { share_slug: slug } = await share();
    const shown = async (answer: string): Promise<string> => {
      await writeResponse(product.db.pool, { accountId, runId: session.runs[0]!.id, text: answer });
      const { text } = await page(slug);
      return text.slice(
        text.indexOf('<div class="columns">'),
        text.indexOf('<table class="facts">', text.indexOf('<div class="columns">')),
      );
    };
    const folded = '<details><summary>Thinking</summary><div class="answer"><p>Hm.</p></div></details>';
    const none = 'There is no answer: all tokens went into thinking.';
    for (const tags of [
      '<think>\nHm.\n</think>\n\nYes.',
      'Hm.\n</think>\n\nYes.',
      '[THINK]Hm.[/THINK]Yes.',
    ]) {
      expect(await shown(tags)).toContain(`${folded}<div class="answer"><p>Yes.</p></div>`);
    }
    expect(await shown('<think>Hm.')).toContain(`${folded}<p>${none}</p>`);
    expect(await shown('')).toContain(none);
    expect(await shown('A tag: <think>')).toContain('<p>A tag: &#60;think&#62;</p>');
  });

  test('shows answers as Markdown, with HTML as text, and links and pictures as words', async () => {
    const { share_slug: slug } = await share();
    const shown = async (answer: string): Promise<string> => {
      await writeResponse(product.db.pool, { accountId, runId: session.runs[0]!.id, text: answer });
      const { text } = await page(slug);
      return text.slice(text.indexOf('<div class="answer">'));
    };
    const rich = await shown(
      [
        '# Rivers <i>',
        'Some **bold** `a<b` and <b>plain</b>',
        '- one\n- two',
        '> quoted',
        '| a | b |\n|---|---|\n| 1 | <u> |',
        '```js"><script>\nconst a = "</code><script>alert(1)</script>";\n```',
        '![cat](https://evil.example/cat.png"onload=x)',
      ].join('\n\n'),
    );
    expect(rich).toContain('<h3>Rivers &#60;i&#62;</h3>');
    expect(rich).toContain('<strong>bold</strong> <code>a&#60;b</code> and &#60;b&#62;plain');
    expect(rich).toContain('<ul><li><p>one</p></li><li><p>two</p></li></ul>');
    expect(rich).toContain('<td>&#60;u&#62;</td>');
    const end = rich.indexOf('<table class="facts">');
    expect(rich.slice(0, end)).not.toMatch(/<script|<img|<i>|<b>|<u>| on\w+=|<\/code><script/);
    const links = await shown(
      '[a](javascript:alert(1)) [b](data:text/html,x) [c](https://c.example/\'"><img src=x>) https://d.example ![e](https://e.example/e.png)',
    );
    const answer = links.slice(0, links.indexOf('<table class="facts">'));
    expect(answer).not.toMatch(/<a |<img|href=/);
    expect(answer).toContain('https://d.example Image: e (https://e.example/e.png)');
  });

  test("isn't blocked by robots.txt: crawlers must read that it isn't for them", async () => {
    const { share_slug: slug } = await share();
    const { status, text } = await call(product.url, 'GET', '/robots.txt');
    expect(status).toBe(200);
    const disallowed = text.split('\n').flatMap((line) => /^Disallow:\s*(\S+)/i.exec(line)?.[1] ?? []);
    expect(disallowed).toContain('/dashboard');
    expect(disallowed.filter((prefix) => `/p/${slug}`.startsWith(prefix))).toEqual([]);
  });

  test('is 404 at once when sharing stops, for everybody, like one that never existed', async () => {
    const { share_slug: slug } = await share();
    await unshare();
    const never = await json('A'.repeat(24));
    for (const gone of [
      await json(slug),
      await call(product.url, 'GET', `/api/playground/shared/${slug}`, { token }),
    ]) {
      expect([gone.status, gone.body]).toEqual([404, never.body]);
    }
    const left = await page(slug);
    expect([left.status, left.text]).toEqual([404, (await page('nothing')).text]);
    expect([left.headers.get('cache-control'), left.headers.get('x-robots-tag')]).toEqual([
      'no-store',
      'noindex',
    ]);
    const query = `{ sharedPlaygroundSession(slug: "${slug}") { prompt } }`;
    const { body } = await operate(product.url, query);
    expect(body.errors![0]!.extensions.code).toBe('not_found');
  });

  test('is 404 when it is deleted, and when its owner is disabled or deleted', async () => {
    const shared = async (owner: string) => {
      const { body } = await ask(product.url, owner, [FAST], 'Mine [[sim words=2]]');
      const path = `/api/playground/${body.id}`;
      const { body: sharing } = await call<Sharing>(product.url, 'POST', `${path}/share`, { token: owner });
      expect((await json(sharing.share_slug)).status).toBe(200);
      return { path, slug: sharing.share_slug };
    };
    const statuses = async (slug: string) => [(await json(slug)).status, (await page(slug)).status];
    const mine = await shared(token);
    await call(product.url, 'DELETE', mine.path, { token });
    expect(await statuses(mine.slug)).toEqual([404, 404]);
    const { token: leaving, user } = await signUp(product.url, { password: 'a password of this test' });
    const theirs = await shared(leaving);
    await product.db.pool.query(`update accounts set status = 'disabled' where id = $1`, [user.id]);
    expect(await statuses(theirs.slug)).toEqual([404, 404]);
    await product.db.pool.query(`update accounts set status = 'active' where id = $1`, [user.id]);
    expect(await statuses(theirs.slug)).toEqual([200, 200]);
    const body = { password: 'a password of this test' };
    await call(product.url, 'DELETE', '/api/auth/me', { token: leaving, body });
    expect(await statuses(theirs.slug)).toEqual([404, 404]);
  });

  test('keeps its URL when it is shared many times at once', async () => {
    const { body } = await ask(product.url, token, [FAST], 'At once [[sim words=2]]');
    const path = `/api/playground/${body.id}/share`;
    const all = await Promise.all(
      Array.from({ length: 8 }, () => call<Sharing>(product.url, 'POST', path, { token })),
    );
    expect(new Set(all.map((one) => one.body.share_slug)).size).toBe(1);
    expect((await json(all[0]!.body.share_slug)).status).toBe(200);
  });

  test("remains in its owner's list, however many newer ones there are", async () => {
    const { token: own, accountId: owner } = await product.signUp('team');
    const { pool } = product.db;
    const ids: string[] = [];
    for (let n = 0; n < 60; n++) ids.unshift(await writeSession(pool, owner, `Shared ${n}`));
    await pool.query(
      `update playground_sessions set shared = true, share_slug = left(md5(id::text), 24) where account_id = $1`,
      [owner],
    );
    const list = async (query: string) => {
      const { body } = await call<Session[]>(product.url, 'GET', `/api/playground${query}`, { token: own });
      return body.map(({ id }) => id);
    };
    expect(await list('?shared=true&limit=500')).toEqual(ids);
    expect(await list('?shared=true&limit=20&offset=45')).toEqual(ids.slice(45));
    expect(await list('?offset=50')).toEqual(ids.slice(50));
    expect(await list('')).toEqual(ids.slice(0, 50));
    expect(await list('?shared=false')).toEqual([]);
    // Whoever asks for everything stays within the cost of an operation.
    const query = `{ viewer { playgroundSessions(shared: true, first: 200) { __typename id prompt systemPrompt models shared shareSlug
      publicUrl truncated createdAt parameters { __typename temperature maxTokens topP }
      runs { __typename id modelPublicName servedModelPublicName status responseContent finishReason latencyMs ttftMs
        inputTokens outputTokens costUsd listCostUsd errorCode errorMessage } } } }`;
    const { viewer } = await dataOf<{ viewer: { playgroundSessions: { id: string; prompt: string }[] } }>(
      product.url,
      query,
      { token: own },
    );
    expect(viewer.playgroundSessions.map(({ id }) => id)).toEqual(ids);
    expect(viewer.playgroundSessions.at(-1)!.prompt).toBe('Shared 0');
  });

  test('an invalid body is refused with its field', async () => {
    const path = `/api/playground/${session.id}/share`;
    const answer = await call(product.url, 'POST', path, { token, body: { rotate: 'yes' } });
    expect([answer.status, answer.text]).toEqual([422, expect.stringContaining('rotate')]);
  });
});

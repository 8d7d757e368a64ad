import { codesOf, dataOf, follow, letIn, operate, socketClient } from '../graphql/support.js';
import { signUp } from '../support/api.js';
import { usePlatform } from '../support/platform-suite.js';
import { until } from '../support/until.js';
import { promptsApi } from './support.js';

interface Change {
  promptChanged: { promptId: string; deleted: boolean; prompt: { name: string; revision: number } | null };
}

const CHANGED = 'subscription { promptChanged { promptId deleted prompt { name revision } } }';

describe('prompts over GraphQL', () => {
  const suite = usePlatform();
  let token = '';
  beforeEach(async () => {
    token = (await signUp(suite.url)).token;
  });
  const api = promptsApi(
    () => suite.url,
    () => token,
  );

  test('are created, changed, rendered, compared, activated and deleted as over REST', async () => {
    const { createPrompt } = await dataOf<{ createPrompt: { prompt: { id: string; revision: number } } }>(
      suite.url,
      `mutation { createPrompt(input: { name: "Mail", content: "Dear {{ to }}, {{ __proto__ }}",
         variables: [{ name: "to", default: "all" }], config: { maxTokens: 9 } }) {
         prompt { id slug revision activeVersion { version config { maxTokens topP } warnings { code name } } } } }`,
      { token },
    );
    expect(createPrompt.prompt).toMatchObject({
      slug: 'mail',
      activeVersion: {
        version: 1,
        config: { maxTokens: 9, topP: null },
        warnings: [{ code: 'UNDECLARED_PLACEHOLDER', name: '__proto__' }],
      },
    });
    const { id, revision } = createPrompt.prompt;
    const { addPromptVersion } = await dataOf<{ addPromptVersion: { version: { id: string } } }>(
      suite.url,
      `mutation { addPromptVersion(input: { promptId: "mail", content: "Hi {{ to }}", notes: "short" }) {
         version { id version } prompt { versionCount activeVersion { version } } } }`,
      { token },
    );
    expect(addPromptVersion).toMatchObject({
      version: { version: 2 },
      prompt: { versionCount: 2, activeVersion: { version: 1 } },
    });
    const { viewer: filled } = await dataOf<{ viewer: { prompt: object } }>(
      suite.url,
      `{ viewer { prompt(id: "${id}") {
         rendered(variables: [{ name: "__proto__", value: "{{ to }}" }, { name: "x", value: "y" }]) {
           renderedContent versionUsed unusedVariables } } } }`,
      { token },
    );
    expect(filled.prompt).toEqual({
      rendered: { renderedContent: 'Dear all, {{ to }}', versionUsed: 1, unusedVariables: ['x'] },
    });
    const { viewer } = await dataOf<{ viewer: { prompt: object } }>(
      suite.url,
      `{ viewer { prompt(id: "${id}") {
         diff(from: 1, to: 2) { content { kind text } removedVariables configChanged }
         comparison(first: 1, second: 2) { fewerErrors }
         versions(first: 1) { nodes { version notes } pageInfo { hasNextPage endCursor } } } } }`,
      { token },
    );
    expect(viewer.prompt).toMatchObject({
      diff: { removedVariables: ['to'], configChanged: true },
      comparison: { fewerErrors: 'INCONCLUSIVE' },
      versions: { nodes: [{ version: 2, notes: 'short' }], pageInfo: { hasNextPage: true } },
    });
    const late = `mutation { updatePrompt(input: { id: "${id}", name: "New", expectedRevision: ${revision} }) { prompt { name } } }`;
    expect(codesOf(await operate(suite.url, late, { token }))).toEqual(['changed_meanwhile']);
    await dataOf(
      suite.url,
      `mutation { activatePromptVersion(input: { promptId: "${id}", versionId: "${addPromptVersion.version.id}" }) { prompt { id } } }`,
      { token },
    );
    const { undoPromptActivation } = await dataOf<Record<string, object>>(
      suite.url,
      `mutation { undoPromptActivation(input: { promptId: "${id}" }) {
         prompt { activeVersion { version } activations { fromVersion toVersion } } } }`,
      { token },
    );
    expect(undoPromptActivation).toMatchObject({
      prompt: {
        activeVersion: { version: 1 },
        activations: [
          { fromVersion: 2, toVersion: 1 },
          { fromVersion: 1, toVersion: 2 },
        ],
      },
    });
    await dataOf(suite.url, `mutation { deletePrompt(input: { id: "${id}" }) { deletedPromptId } }`, {
      token,
    });
    const rest = await dataOf<{ viewer: object }>(
      suite.url,
      '{ viewer { prompts(search: "mail") { nodes { id } } whatIf(model: "gateway/fast") { requests differenceUsd } } }',
      { token },
    );
    expect(rest.viewer).toEqual({
      prompts: { nodes: [] },
      whatIf: { requests: 0, differenceUsd: '0.000000' },
    });
  });

  test('page through every version, newest first, each once', async () => {
    const prompt = await api.create();
    for (let n = 0; n < 4; n++) await api.addVersion(prompt.id);
    const seen: number[] = [];
    for (let after: string | null = null; ; ) {
      const data: { viewer: { prompt: { versions: VersionPage } } } = await dataOf(
        suite.url,
        `query ($after: String) { viewer { prompt(id: "${prompt.id}") { versions(first: 2, after: $after) {
           nodes { version } pageInfo { hasNextPage endCursor } } } } }`,
        { token, variables: { after } },
      );
      const { nodes, pageInfo } = data.viewer.prompt.versions;
      seen.push(...nodes.map(({ version }) => version));
      if (!pageInfo.hasNextPage) break;
      after = pageInfo.endCursor;
    }
    expect(seen).toEqual([5, 4, 3, 2, 1]);
  });

  test('cost what comparing, counting and listing costs this process, whatever aliases are used', async () => {
    const prompt = await api.create();
    const aliases = (count: number, field: string): string =>
      Array.from({ length: count }, (_, n) => `a${n}: ${field}`).join(' ');
    const codes = async (fields: string) => {
      const query = `{ viewer { playgroundSessions(first: 50) { id } prompt(id: "${prompt.id}") { ${fields} } } }`;
      return codesOf(await operate(suite.url, query, { token }));
    };
    const one = 'diff(from: 1, to: 1) { configChanged }';
    const stats = `versionStats(versionId: "${prompt.active_version_id}", windowDays: 1) { requests }`;
    const rendered = 'rendered(variables: [{ name: "name", value: "Ada" }]) { versionUsed }';
    expect(await codes(aliases(1, one))).toEqual([]);
    expect(await codes(aliases(2, one))).toEqual(['GRAPHQL_VALIDATION_FAILED']);
    expect(await codes(aliases(2, stats))).toEqual([]);
    expect(await codes(aliases(3, stats))).toEqual(['GRAPHQL_VALIDATION_FAILED']);
    expect(await codes(aliases(10, rendered))).toEqual([]);
    expect(await codes(aliases(15, rendered))).toEqual(['GRAPHQL_VALIDATION_FAILED']);
    // A text of a megabyte fits once, wherever its second alias is.
    const text = rendered.replace('versionUsed', 'renderedContent');
    expect(await codes(aliases(1, text))).toEqual([]);
    expect(await codes(aliases(2, text))).toEqual(['GRAPHQL_VALIDATION_FAILED']);
    const page = (fields: string) =>
      operate(suite.url, `{ viewer { prompts(first: 100) { nodes { activeVersion { ${fields} } } } } }`, {
        token,
      });
    expect(codesOf(await page('content variables { name default }'))).toEqual([]);
    expect(codesOf(await page(aliases(3, 'content')))).toEqual(['GRAPHQL_VALIDATION_FAILED']);
    expect(await codes(rendered.replace('versionUsed', aliases(2, 'renderedContent')))).toEqual([
      'GRAPHQL_VALIDATION_FAILED',
    ]);
  });

  test('name missing variables as their prompt does, and refuse values with control characters', async () => {
    const { id } = await api.create({ content: 'Dear {{ customer_name }}' });
    const render = (args: string) =>
      operate(suite.url, `{ viewer { prompt(id: "${id}") { rendered${args} { renderedContent } } } }`, {
        token,
      });
    const missing = await render('');
    expect(missing.body.errors![0]!.extensions).toEqual({
      code: 'missing_variables',
      details: [{ field: 'variables.customer_name', message: 'is required' }],
    });
    const refused = await render('(variables: [{ name: "customer_name", value: "\\u0001" }])');
    expect(refused.body.errors![0]!.extensions).toMatchObject({
      code: 'validation_error',
      details: [{ field: 'variables.0.value', message: expect.stringContaining('control characters') }],
    });
  });

  test('send live changes to their owner with their current state, and to nobody else', async () => {
    const other = await signUp(suite.url);
    const clients = [token, other.token].map((one) => socketClient(suite.url, { token: one }));
    const connected = clients.map(letIn);
    const [mine, theirs] = clients.map((client) => follow<Change>(client, CHANGED));
    await Promise.all(connected);
    const news = () => mine!.results.map(({ data }) => data!.promptChanged);
    const reported = async (matches: (change: Change['promptChanged']) => boolean, what: string) =>
      until(() => news().find(matches), { what });
    // The first change may come before the subscription has begun.
    const probe = await api.create({ name: 'Probe' });
    await until(
      async () => {
        await api.must(200, 'PATCH', `/${probe.id}`, { description: 'x' });
        return news().length > 0;
      },
      { what: 'the subscription', intervalMs: 50 },
    );
    const prompt = await api.create({ name: 'One' });
    await reported((one) => one.promptId === prompt.id && one.prompt?.name === 'One', 'the making');
    await api.must(200, 'PATCH', `/${prompt.id}`, { name: 'Two' });
    await reported((one) => one.prompt?.name === 'Two' && one.prompt.revision === 2, 'the change');
    const second = await api.addVersion(prompt.id);
    await reported((one) => one.prompt?.revision === 3, 'the version');
    await api.activate(prompt.id, second.id);
    await reported((one) => one.prompt?.revision === 4, 'the activation');
    await api.must(204, 'DELETE', `/${prompt.id}`);
    await reported((one) => one.promptId === prompt.id && one.deleted && one.prompt === null, 'the deletion');
    expect(theirs!.results).toEqual([]);
    for (const client of clients) await client.dispose();
  });
});

interface VersionPage {
  nodes: { version: number }[];
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
}

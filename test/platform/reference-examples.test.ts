import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { call } from '../support/api.js';
import { PASTED, useProduct } from '../support/product-suite.js';
import { HEARTBEAT_SECRET } from '../support/secrets.js';

const run = promisify(execFile);
const plain = (html: string): string =>
  html
    .replace(/<[^>]+>/g, '')
    .replace(/&#(\d+);/g, (_all, number: string) => String.fromCharCode(Number(number)))
    .replaceAll('&amp;', '&');

interface Document {
  components: { schemas: Record<string, { properties: { usage: { properties: object } } }> };
  paths: Record<string, Record<string, { operationId: string; responses: Record<string, object> }>>;
}

/** What only the caller can fill in: no example can know it. */
const BLANKS = ['wgt_pr_…', '019aa7c1-5f0e-7cc3-98c1-1a2b3c4d5e6f'];
/** Not there unless the operator wants it, and with the token of an email. */
const NOT_TRIED = ['createResponse', 'resetPassword'];

describe('the examples of /docs/api', () => {
  const suite = useProduct(PASTED);

  test('work unchanged when pasted into a shell with the variables', async () => {
    const page = await call(suite.url, 'GET', '/docs/api');
    const examples = new Map(
      [...page.text.matchAll(/<h3 id="(\w+)">[\s\S]*?<code>(curl [\s\S]*?)<\/code>/g)].map(
        ([, id, example]) => [id!, plain(example!)],
      ),
    );
    const { body: document } = await call<Document>(suite.url, 'GET', '/openapi.json');
    const promised = new Map(
      Object.values(document.paths)
        .flatMap((methods) => Object.values(methods))
        .map(({ operationId, responses }) => [
          operationId,
          Object.keys(responses).find((status) => status.startsWith('2')),
        ]),
    );
    expect([...examples.keys()].toSorted()).toEqual([...promised.keys()].toSorted());

    // The product is shared, and somebody may have signed up as you already.
    const email = `${randomUUID()}@example.com`;
    const variables: Record<string, string> = { GPU_HEARTBEAT_SECRET: HEARTBEAT_SECRET };
    const tried = new Set(NOT_TRIED);
    /** Runs the examples of some operations with these variables and the session's; gives the last answer. */
    const paste = async (ids: string, own: Record<string, string> = {}, blank = '') => {
      let answer: unknown;
      for (const id of ids.split(' ')) {
        const example = BLANKS.reduce(
          (text, one) => text.replace(one, blank || one),
          examples.get(id)!.replace('you@example.com', email),
        );
        const { stdout } = await run('sh', ['-c', `${example} -s -w '\n%{http_code}'`], {
          env: { PATH: process.env.PATH, ...variables, ...own },
        });
        const [, text, status] = /^([\s\S]*)\n(\d+)$/.exec(stdout)!;
        if (status !== promised.get(id)) throw new Error(`${id} answered ${status}: ${text}`);
        tried.add(id);
        answer = text!.startsWith('{') || text!.startsWith('[') ? JSON.parse(text!) : text;
      }
      // biome-ignore lint/suspicious/noExplicitAny: each operation answers something else
      return answer as any;
    };
    const logIn = async () => {
      const { access_token: token, user } = await paste('login');
      variables.TOKEN = token;
      return user.id as string;
    };

    await paste(
      'signup forgotPassword getHealth getReadiness listPlans listModels getStatus getBillingConfig estimateMigration',
    );
    await suite.db.pool.query(`update accounts set role = 'admin' where email = $1`, [email]);
    const accountId = await logIn();
    await paste('updateUser adjustCredit getUser', { id: accountId });
    await paste(
      'listUsers listAdminActions listScheduledJobs getRouting listInstallationWarnings recomputeLeaderboard',
    );
    const fast = { family: 'gateway', name: 'fast' };
    await paste('updateModel updateModelByShortName', fast);
    await paste('getLeaderboard getLeaderboardMix');
    await paste('getLeaderboardModel getLeaderboardModelByShortName getLeaderboardRow', fast);

    const { key, api_key: apiKey } = await paste('createKey');
    variables.KEY = key;
    await paste('listAllowedModels');
    for (const [id, schema] of [
      ['createChatCompletion', 'ChatCompletion'],
      ['createEmbeddings', 'EmbeddingList'],
    ] as const) {
      const { usage } = await paste(id);
      const described = document.components.schemas[schema]!.properties.usage.properties;
      expect([id, Object.keys(usage).toSorted()]).toEqual([id, Object.keys(described).toSorted()]);
    }
    await suite.settled();
    await paste('getMe getBalance topUp listLedger exportLedger exportUsage getAnalytics getUsageSeries');
    await paste('getRefusedCalls listRefusals getBalanceOutlook setLowBalanceAlert getLowBalanceAlert');
    const { items } = await paste('listUsage');
    await paste('getUsage', { id: items[0].id });
    await paste('getStatement', { month: items[0].created_at.slice(0, 7) });
    await paste('estimateWhatIf', { model: 'gateway/fast', key_id: apiKey.id });

    const ofKey = { id: apiKey.id };
    const ofAlert = { ...ofKey, alert_id: (await paste('createAlert', ofKey)).id };
    await paste(
      'listKeys getKey updateKey undoKeyGuard getKeyAnalytics getKeyRefusedCalls listAlerts',
      ofKey,
    );
    await paste('updateAlert sendTestAlert', ofAlert);
    const [event] = await paste('listKeyAlertEvents listAlertEvents', ofKey);
    await paste('redeliverAlertEvent', { id: event.id });
    const hook = { kind: 'webhook', destination: 'https://93.184.216.34/hook', thresholds_pct: [50] };
    const path = `/api/keys/${apiKey.id}/alerts`;
    const { id: hookId } = await suite.api<{ id: string }>(variables.TOKEN!, 'POST', path, hook);
    await paste('rotateAlertSecret deleteAlert', { ...ofKey, alert_id: hookId });

    const prompt = await paste('createPrompt');
    const second = await paste('addPromptVersion', { id: prompt.id });
    const ofPrompt = { id: prompt.id, vid: second.id, from: '1', to: '2', first: '1', second: '2' };
    await paste('listPrompts getPrompt updatePrompt renderPrompt activatePromptVersion', ofPrompt);
    await paste('undoPromptActivation listPromptActivations diffPromptVersions', ofPrompt);
    await paste('getPromptVersionStats comparePromptVersions deletePrompt', ofPrompt);

    const widget = await paste('createWidget');
    await paste('chatWithWidget', {}, widget.public_key);
    await paste('getWidgetConfig', { key: widget.public_key });
    await paste('listWidgets getWidget updateWidget getWidgetUsage rotateWidgetKey deleteWidget', {
      id: widget.id,
    });

    const session = { id: (await paste('runPlayground')).id };
    const { share_slug: slug } = await paste('cancelPlaygroundRuns sharePlaygroundSession', session);
    await paste('getSharedPlaygroundSession', { slug });
    await paste('listPlaygroundSessions getPlaygroundSession unsharePlaygroundSession', session);
    await paste('deletePlaygroundSession', session);

    const node = { id: (await paste('createGpuNode')).id };
    await paste('listGpuNodes getGpuNode updateGpuNode sendHeartbeat listGpuNodeHeartbeats', node);
    const runs = [await paste('submitBenchmark', {}, node.id), await paste('submitBenchmark', {}, node.id)];
    await paste('listNodeEconomics listBenchmarks listLatestBenchmarks');
    await paste('compareBenchmarks', { base: runs[0].id, other: runs[1].id });
    await paste('deleteGpuNode', node);

    await paste('deleteKey', ofKey);
    await paste('changePassword');
    const { current_password: first, new_password: next } = JSON.parse(
      /-d '(.*)'$/.exec(examples.get('changePassword')!)![1]!,
    );
    const back = { current_password: next, new_password: first };
    await suite.api(variables.TOKEN!, 'POST', '/api/auth/password', back);
    await paste('logout');
    await logIn();
    await paste('deleteMe');
    expect([...examples.keys()].filter((id) => !tried.has(id))).toEqual([]);
  });
});

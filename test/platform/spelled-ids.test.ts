import {
  INVALIDATION_CHANNEL,
  PLAYGROUND_CANCEL_CHANNEL,
  PROMPTS_CHANNEL,
  SESSIONS_CHANNEL,
} from '../../src/db/invalidation.js';
import { type Listener, listen } from '../../src/db/listen.js';
import { createLogger } from '../../src/lib/logger.js';
import type { AlertEventOutput, CreatedAlertOutput } from '../../src/services/alerts/alerts.outputs.js';
import type { PromptOutput, PromptVersionOutput } from '../../src/services/prompts/prompts.outputs.js';
import type { WidgetOutput } from '../../src/services/widgets/widgets.outputs.js';
import { HOOK } from '../alerts/alerts-api.js';
import { dataOf } from '../graphql/support.js';
import { NODE_SECRET, register, WITH_SECRET } from '../nodes/support.js';
import { writeSession } from '../playground/support.js';
import { signUpAdmin } from '../support/admin.js';
import { call, signUp } from '../support/api.js';
import { createTestKey } from '../support/edge.js';
import { usePlatform } from '../support/platform-suite.js';
import { until } from '../support/until.js';

const ANY_ID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi;
const CHANNELS = [INVALIDATION_CHANNEL, SESSIONS_CHANNEL, PROMPTS_CHANNEL, PLAYGROUND_CANCEL_CHANNEL];

/** Ids in a text that aren't spelled as the database spells them. */
const misspelled = (text: string): string[] =>
  (text.match(ANY_ID) ?? []).filter((id) => id !== id.toLowerCase());

describe('an id in capitals', () => {
  const suite = usePlatform({ env: WITH_SECRET });
  const heard: string[] = [];
  let listener: Listener;
  beforeAll(async () => {
    let listening = false;
    listener = listen({
      databaseUrl: suite.db.url,
      channel: CHANNELS,
      log: createLogger('test', 'silent'),
      onNotify: (payload) => void heard.push(payload),
      onListening: () => {
        listening = true;
      },
    });
    await until(() => listening);
  });
  afterAll(() => listener.stop());

  test("names the same object in every operation that changes one, and isn't stored in capitals", async () => {
    const admin = await signUpAdmin(suite);
    const ada = await signUp(suite.url);
    const done: string[] = [];
    /** An operation as the API reference names it, its ids in capitals. */
    const run = async <T>(
      operation: string,
      ids: readonly string[],
      body?: unknown,
      token = ada.token,
    ): Promise<T> => {
      const [method, template] = operation.split(' ') as [string, string];
      const spelled = ids.map((id) => id.toUpperCase());
      expect(misspelled(spelled.join())).toHaveLength(ids.length);
      const path = template.replace(/\{\w+\}/g, () => spelled.shift()!);
      const answer = await call<T>(suite.url, method, path, { token, body });
      const refusal = answer.status < 300 ? null : answer.text;
      expect([operation, refusal, misspelled(answer.text)]).toEqual([operation, null, []]);
      done.push(operation);
      return answer.body;
    };
    const make = async <T>(path: string, body: unknown): Promise<T> =>
      (await call<T>(suite.url, 'POST', path, { token: ada.token, body })).body;

    const { keyId: key } = await createTestKey(suite.db, { accountId: ada.user.id });
    await run('PATCH /api/keys/{id}', [key], { name: 'renamed' });
    await run('POST /api/keys/{id}/guard/undo', [key]);
    const alert = await run<CreatedAlertOutput>('POST /api/keys/{id}/alerts', [key], {
      kind: 'webhook',
      destination: HOOK,
      thresholds_pct: [80],
    });
    expect(alert.key_id).toBe(key);
    const alertIds = [key, alert.id];
    await run('PATCH /api/keys/{id}/alerts/{alert_id}', alertIds, { active: false });
    await run('POST /api/keys/{id}/alerts/{alert_id}/rotate-secret', alertIds);
    const event = await run<AlertEventOutput>('POST /api/keys/{id}/alerts/{alert_id}/test', alertIds);
    await run('POST /api/alert-events/{id}/redeliver', [event.id]);
    await run('DELETE /api/keys/{id}/alerts/{alert_id}', alertIds);
    await run('DELETE /api/keys/{id}', [key]);

    const prompt = await make<PromptOutput>('/api/prompts', { name: 'Spelled', content: 'a' });
    const widget = await make<WidgetOutput>('/api/widgets', {
      name: 'Spelled',
      model_public_name: 'gateway/fast',
      prompt_id: prompt.id.toUpperCase(),
    });
    expect(widget.prompt_id).toBe(prompt.id);
    await run('PATCH /api/widgets/{id}', [widget.id], {
      name: 'renamed',
      expected: { prompt_id: prompt.id.toUpperCase() },
    });
    await run('POST /api/widgets/{id}/rotate-key', [widget.id]);
    await run('DELETE /api/widgets/{id}', [widget.id]);

    const version = await run<PromptVersionOutput>('POST /api/prompts/{id}/versions', [prompt.id], {
      content: 'b',
    });
    await run('POST /api/prompts/{id}/versions/{vid}/activate', [prompt.id, version.id]);
    await run('POST /api/prompts/{id}/activations/undo', [prompt.id]);
    const patched = await run<PromptOutput>('PATCH /api/prompts/{id}', [prompt.id], {
      active_version_id: version.id.toUpperCase(),
    });
    expect(patched.active_version_id).toBe(version.id);
    await run('POST /api/prompts/{id}/render', [prompt.id], {});
    await run('DELETE /api/prompts/{id}', [prompt.id]);

    const session = await writeSession(suite.db.pool, ada.user.id, 'Hello');
    await run('POST /api/playground/{id}/share', [session]);
    await run('DELETE /api/playground/{id}/share', [session]);
    await run('POST /api/playground/{id}/cancel', [session]);
    await run('DELETE /api/playground/{id}', [session]);

    const node = await register({ url: suite.url, token: admin.token });
    const { user } = await signUp(suite.url);
    await run('PATCH /api/admin/users/{id}', [user.id], { plan: 'pro', role: 'admin' }, admin.token);
    await run(
      'POST /api/admin/users/{id}/credit-adjustments',
      [user.id],
      { amount_usd: 1, reason: 'a gift', idempotency_key: 'gift' },
      admin.token,
    );
    await run('PATCH /api/admin/gpu-nodes/{id}', [node.id], { region: 'eu-2' }, admin.token);
    await run('POST /api/internal/gpu-nodes/{id}/heartbeat', [node.id], { gpu_utilization: 1 }, NODE_SECRET);
    await run('DELETE /api/admin/gpu-nodes/{id}', [node.id], undefined, admin.token);

    const { body: reference } = await call<{ paths: Record<string, object> }>(
      suite.url,
      'GET',
      '/openapi.json',
    );
    const changing = Object.entries(reference.paths).flatMap(([path, operations]) =>
      path.includes('id}')
        ? Object.keys(operations)
            .filter((method) => ['post', 'put', 'patch', 'delete'].includes(method))
            .map((method) => `${method.toUpperCase()} ${path}`)
        : [],
    );
    expect(done.toSorted()).toEqual(changing.toSorted());

    await suite.db.pool.query('select pg_notify($1, $2)', [SESSIONS_CHANNEL, 'the end']);
    await until(() => heard.includes('the end'));
    expect(heard).toEqual(
      expect.arrayContaining([
        `key:${key}:${ada.user.id}`,
        `widget:${widget.id}:${ada.user.id}`,
        `account:${user.id}`,
        user.id,
      ]),
    );
    expect(misspelled(heard.join(' '))).toEqual([]);

    const logged = async (subject: string) =>
      (
        await call<{ action: string; subject_id: string }[]>(
          suite.url,
          'GET',
          `/api/admin/actions?subject_id=${subject.toUpperCase()}&actor_id=${admin.user.id}`,
          { token: admin.token },
        )
      ).body.map(({ action, subject_id }) => [action, subject_id]);
    expect(await logged(user.id)).toEqual([
      ['account.adjust_credit', user.id],
      ['account.update', user.id],
    ]);
    expect(await logged(node.id)).toEqual([
      ['node.delete', node.id],
      ['node.update', node.id],
      ['node.create', node.id],
    ]);
  });

  test('is returned by GraphQL as the ID of the deleted object', async () => {
    const ada = await signUp(suite.url);
    const { keyId: id } = await createTestKey(suite.db, { accountId: ada.user.id });
    const input = { id: id.toUpperCase() };
    const deleted = await dataOf(
      suite.url,
      'mutation ($input: DeleteApiKeyInput!) { deleteApiKey(input: $input) { deletedApiKeyId } }',
      { token: ada.token, variables: { input } },
    );
    expect(deleted).toEqual({ deleteApiKey: { deletedApiKeyId: id } });
  });
});

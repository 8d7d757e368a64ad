import { flushBatch } from '../../src/metering/flush.store.js';
import { dataOf, operate } from '../graphql/support.js';
import { recordOf } from '../metering/support.js';
import { call, signUp } from '../support/api.js';
import { createTestKey } from '../support/edge.js';
import { usePlatform } from '../support/platform-suite.js';

const FIELDS = `id publicKey name modelPublicName systemPrompt greetingMessage theme { primary position }
  allowedDomains rateLimitPerMinute dailyMessageLimit visitorDailyLimit verifiedHistory monthlyLimitUsd status
  messagesToday createdAt`;

describe('widgets in GraphQL', () => {
  const suite = usePlatform();
  let token = '';
  beforeAll(async () => {
    token = (await signUp(suite.url)).token;
  });
  const ask = <T>(document: string, variables: Record<string, unknown> = {}): Promise<T> =>
    dataOf(suite.url, document, { token, variables }) as Promise<T>;

  test('are created, changed, rotated, read and deleted', async () => {
    const { createWidget } = await ask<{ createWidget: { widget: Record<string, unknown> } }>(
      `mutation($input: CreateWidgetInput!) { createWidget(input: $input) { widget { ${FIELDS} } } }`,
      {
        input: {
          name: 'Shop',
          modelPublicName: 'gateway/fast',
          theme: { primary: '#123456' },
          allowedDomains: ['https://Shop.example/'],
          monthlyLimitUsd: '1.5',
        },
      },
    );
    const { widget } = createWidget;
    expect(widget).toMatchObject({
      name: 'Shop',
      theme: { primary: '#123456', position: 'bottom-right' },
      allowedDomains: ['shop.example'],
      monthlyLimitUsd: '1.500000',
      status: 'ACTIVE',
    });
    const { id } = widget;
    const updated = await ask<{ updateWidget: { widget: object } }>(
      `mutation($input: UpdateWidgetInput!) { updateWidget(input: $input) { widget { ${FIELDS} } } }`,
      { input: { id, name: 'Store', visitorDailyLimit: 5 } },
    );
    expect(updated.updateWidget.widget).toEqual({ ...widget, name: 'Store', visitorDailyLimit: 5 });
    const unchanged = { theme: { position: null }, expected: { name: null, theme: { primary: '#123456' } } };
    const same = await ask<{ updateWidget: { widget: object } }>(
      `mutation($input: UpdateWidgetInput!) { updateWidget(input: $input) { widget { ${FIELDS} } } }`,
      { input: { id, visitorDailyLimit: null, ...unchanged } },
    );
    expect(same.updateWidget.widget).toEqual({ ...widget, name: 'Store' });
    const rotated = await ask<{ rotateWidgetKey: { widget: { publicKey: string } } }>(
      'mutation($id: ID!) { rotateWidgetKey(input: { id: $id }) { widget { publicKey } } }',
      { id },
    );
    expect(rotated.rotateWidgetKey.widget.publicKey).not.toBe(widget.publicKey);
    const read = await ask<{ viewer: object }>(
      `query($id: ID!) { viewer { widgets { id } widget(id: $id) { name }
        widgetUsage(id: $id, windowDays: 2) { windowDays messages costUsd dailyBreakdown { date messages }
          refused { code count } sites { site messages refused } } } }`,
      { id },
    );
    expect(read.viewer).toMatchObject({
      widgets: [{ id }],
      widget: { name: 'Store' },
      widgetUsage: { windowDays: 2, messages: 0, costUsd: '0.000000', refused: [], sites: [] },
    });
    const gone = await ask<object>(
      'mutation($id: ID!) { deleteWidget(input: { id: $id }) { deletedWidgetId } }',
      { id },
    );
    expect(gone).toEqual({ deleteWidget: { deletedWidgetId: id } });
    expect(await ask('{ viewer { widgets { id } } }')).toEqual({ viewer: { widgets: [] } });
  });

  test("are named by their visitors' calls until they are deleted, and over REST by their ID", async () => {
    const { token: owner, user } = await signUp(suite.url);
    const make = async (name: string): Promise<string> =>
      (
        (await dataOf(
          suite.url,
          'mutation($name: String!) { createWidget(input: { name: $name, modelPublicName: "gateway/fast" }) { widget { id } } }',
          { token: owner, variables: { name } },
        )) as { createWidget: { widget: { id: string } } }
      ).createWidget.widget.id;
    const [shop, help] = [await make('Shop'), await make('Help')];
    const { keyId } = await createTestKey(suite.db, { accountId: user.id });
    const now = Date.now();
    const callers = [{ keyId: null, widgetId: shop }, { keyId: null, widgetId: help }, { keyId }];
    await flushBatch(
      suite.db.pool,
      callers.map((caller, n) =>
        recordOf({ accountId: user.id, keyId }, { ...caller, createdAt: now - n * 1_000 }),
      ),
    );
    const nodes = async () =>
      (
        (await dataOf(
          suite.url,
          '{ viewer { usageEvents(first: 10) { nodes { keyId widgetId widget { id name } } } } }',
          { token: owner },
        )) as { viewer: { usageEvents: { nodes: object[] } } }
      ).viewer.usageEvents.nodes;
    const ofKey = { keyId, widgetId: null, widget: null };
    const ofHelp = { keyId: null, widgetId: help, widget: { id: help, name: 'Help' } };
    expect(await nodes()).toEqual([
      { keyId: null, widgetId: shop, widget: { id: shop, name: 'Shop' } },
      ofHelp,
      ofKey,
    ]);
    await call(suite.url, 'DELETE', `/api/widgets/${shop}`, { token: owner });
    expect(await nodes()).toEqual([{ keyId: null, widgetId: shop, widget: null }, ofHelp, ofKey]);
    const { body } = await call<{ items: { widget_id: string | null }[] }>(suite.url, 'GET', '/api/usage', {
      token: owner,
    });
    expect(body.items.map(({ widget_id }) => widget_id)).toEqual([shop, help, null]);
  });

  test('return errors that name the field', async () => {
    const answer = await operate(
      suite.url,
      'mutation { createWidget(input: { name: "a", modelPublicName: "gateway/fast", dailyMessageLimit: -1 }) { widget { id } } }',
      { token },
    );
    expect(answer.body.errors![0]!.extensions).toMatchObject({
      code: 'validation_error',
      details: [{ field: 'dailyMessageLimit' }],
    });
  });
});

import { dataOf, operate } from '../graphql/support.js';
import { signUp } from '../support/api.js';
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

  test('tell which field is wrong', async () => {
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

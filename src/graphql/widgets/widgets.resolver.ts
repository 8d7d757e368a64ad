import { ID } from 'type-graphql';
import { z } from 'zod';
import { firstUpTo } from '../../lib/connection-input.js';
import { uuid } from '../../lib/output-fields.js';
import { idOrText } from '../../lib/uuid.js';
import {
  createWidgetInput,
  expectedWidgetInput,
  updateWidgetInput,
  widgetThemeInput,
  widgetUsageInput,
} from '../../services/widgets/widgets.inputs.js';
import {
  widgetDayOutput,
  widgetOutput,
  widgetRefusalOutput,
  widgetSiteOutput,
  widgetThemeOutput,
  widgetUsageOutput,
} from '../../services/widgets/widgets.outputs.js';
import { MAX_WIDGETS } from '../../services/widgets/widgets.rules.js';
import { Viewer } from '../accounts/accounts.types.js';
import { UsageEvent } from '../billing/billing.types.js';
import { toGraphql, toGraphqlAs } from '../case.js';
import { pageSize } from '../connections.js';
import { enumOf } from '../enum-of.js';
import { field, mutation } from '../fields.js';
import { checked } from '../input.js';
import { Decimal } from '../scalars.js';
import { TEXT_COST } from '../text-cost.js';
import { inputType, objectType } from '../zod-fields.js';

enumOf('WidgetStatus', 'Widget status.', widgetOutput.shape.status, {
  active: 'The widget answers.',
  deleted: 'The widget was deleted.',
});

objectType('WidgetTheme', widgetThemeOutput, { position: String });
const Widget = objectType('Widget', widgetOutput, {}, { systemPrompt: TEXT_COST, allowedDomains: TEXT_COST });
objectType('WidgetDay', widgetDayOutput);
objectType('WidgetRefusal', widgetRefusalOutput);
objectType('WidgetSite', widgetSiteOutput, {}, { site: TEXT_COST });
const WidgetUsage = objectType('WidgetUsage', widgetUsageOutput);

const widgetsInput = z.strictObject({ first: firstUpTo(MAX_WIDGETS) });
const widgetId = z.object({ id: uuid('Widget ID.') });
const widgetPayload = z.object({ widget: widgetOutput.describe('The widget.') });
const inputTypes = {
  promptId: ID,
  theme: inputType('WidgetThemeInput', widgetThemeInput, { primary: String, position: String }),
  allowedDomains: [String],
  monthlyLimitUsd: Decimal,
};
const ExpectedWidgetInput = inputType('ExpectedWidgetInput', expectedWidgetInput, inputTypes);

/** Chat widgets of the signed-in account. */
export const widgetsResolvers = [
  mutation('createWidget', 'session', {
    description: 'Creates a chat widget for web pages. At most 50 widgets per account.',
    input: createWidgetInput,
    inputTypes,
    argument: 'The widget.',
    payload: widgetPayload.describe('The new widget.'),
    run: ({ services, service }, input) =>
      toGraphqlAs('widget', services.widgets.create(service, checked(createWidgetInput, input))),
  }),
  mutation('updateWidget', 'session', {
    description: 'Updates the given fields of a widget.',
    input: widgetId
      .extend(updateWidgetInput.shape)
      .describe('Changes to a widget. Omitted fields keep their value.'),
    inputTypes: { ...inputTypes, expected: ExpectedWidgetInput },
    argument: 'The widget and its changes.',
    payload: widgetPayload.describe('The updated widget.'),
    run: async ({ services, service }, { id, ...changes }) => {
      const input = { ...checked(updateWidgetInput, changes), id };
      return toGraphqlAs('widget', services.widgets.update(service, input));
    },
  }),
  mutation('rotateWidgetKey', 'session', {
    description:
      'Gives a widget a new public key. The old key stops working immediately: pages need the new one.',
    input: widgetId.describe('The widget whose key to rotate.'),
    argument: 'The widget.',
    payload: widgetPayload.describe('The widget with its new public key.'),
    run: ({ services, service }, { id }) =>
      toGraphqlAs('widget', services.widgets.rotateKey(service, { id })),
  }),
  mutation('deleteWidget', 'session', {
    description: 'Deletes a widget. Chats with it are rejected immediately. Its usage stays.',
    input: widgetId.describe('The widget to delete.'),
    argument: 'The widget.',
    payload: z
      .object({ deleted_widget_id: uuid('ID of the deleted widget.') })
      .describe('The result of a deletion.'),
    run: async ({ services, service }, { id }) => {
      await services.widgets.remove(service, { id });
      return { deletedWidgetId: idOrText(id) };
    },
  }),
  field(Viewer, 'widgets', [Widget], {
    description: 'Chat widgets of the account, newest first.',
    complexity: ({ args, childComplexity }) => 1 + pageSize(args.first, MAX_WIDGETS) * childComplexity,
    args: widgetsInput,
    run: ({ services, service }, args) => {
      const { first: limit } = checked(widgetsInput, args);
      return toGraphql(services.widgets.list(service, { limit, offset: 0 }));
    },
  }),
  field(Viewer, 'widget', Widget, {
    nullable: true,
    description: 'One chat widget of the account.',
    args: widgetId,
    run: ({ services, service }, { id }) => toGraphql(services.widgets.get(service, { id })),
  }),
  field(UsageEvent, 'widget', Widget, {
    nullable: true,
    description: 'The widget that made the call, or null if it was deleted or the call has an API key.',
    run: ({ loaders }, _args, { widgetId }) => (widgetId === null ? null : loaders.widgets.load(widgetId)),
  }),
  field(Viewer, 'widgetUsage', WidgetUsage, {
    nullable: true,
    description: 'Usage of a chat widget in a window of UTC days.',
    complexity: ({ childComplexity }) => 10 + 2 * childComplexity,
    args: widgetId.extend(widgetUsageInput.shape),
    run: ({ services, service }, { id, ...window }) =>
      toGraphql(services.widgets.usage(service, { ...checked(widgetUsageInput, window), id })),
  }),
];

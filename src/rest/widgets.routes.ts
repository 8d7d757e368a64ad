import {
  createWidgetInput,
  pageInput,
  updateWidgetInput,
  widgetParams,
  widgetUsageInput,
} from '../services/widgets/widgets.inputs.js';
import { widgetOutput, widgetsOutput, widgetUsageOutput } from '../services/widgets/widgets.outputs.js';
import { restRoutes } from './operations.js';
import { reads, writes } from './route-rules.js';

/**
 * A system prompt of 20,000 characters takes up to 120 kB, and a change may also contain the one that it replaces.
 */
const BODY = { bodyLimitBytes: 320 * 1024 };

/** The viewer's chat widgets. The edge answers their visitors (src/gateway/widget/widget.routes.ts). */
export const widgetsRoutes = restRoutes('Widgets', (route, { widgets }) => {
  route('POST /api/widgets', writes(BODY), {
    operationId: 'createWidget',
    summary: 'Create a widget',
    description: 'Creates a chat widget for web pages. At most 50 widgets per account.',
    body: createWidgetInput,
    returns: { 201: widgetOutput },
    errors: [404, 'model_not_allowed'],
    run: ({ context, body }) => widgets.create(context, body),
  });

  route('GET /api/widgets', reads(), {
    operationId: 'listWidgets',
    summary: 'List widgets',
    description: 'Lists your chat widgets, newest first, without deleted ones.',
    query: pageInput,
    returns: { 200: widgetsOutput },
    run: ({ context, query }) => widgets.list(context, query),
  });

  route('GET /api/widgets/:id', reads(), {
    operationId: 'getWidget',
    summary: 'Get a widget',
    description: 'Returns a chat widget.',
    params: widgetParams,
    returns: { 200: widgetOutput },
    run: ({ context, params }) => widgets.get(context, params),
  });

  route('GET /api/widgets/:id/usage', reads(), {
    operationId: 'getWidgetUsage',
    summary: 'Get the usage of a widget',
    description: 'Returns messages, tokens, cost, refusals and sites of a widget in a window of UTC days.',
    params: widgetParams,
    query: widgetUsageInput,
    returns: { 200: widgetUsageOutput },
    run: ({ context, params, query }) =>
      widgets.usage(context, { id: params.id, window_days: query.window_days }),
  });

  route('PATCH /api/widgets/:id', writes(BODY), {
    operationId: 'updateWidget',
    summary: 'Update a widget',
    description:
      'Updates the given fields; send at least one. Pages show the change when they are loaded again.',
    params: widgetParams,
    body: updateWidgetInput,
    returns: { 200: widgetOutput },
    errors: [409, 'model_not_allowed'],
    run: ({ context, params, body }) => widgets.update(context, { ...body, id: params.id }),
  });

  route('DELETE /api/widgets/:id', writes(), {
    operationId: 'deleteWidget',
    summary: 'Delete a widget',
    description: 'Deletes a widget. Chats with it are rejected immediately. Its usage stays.',
    params: widgetParams,
    returns: { 204: 'The widget was deleted.' },
    run: ({ context, params }) => widgets.remove(context, params),
  });

  route('POST /api/widgets/:id/rotate-key', writes(), {
    operationId: 'rotateWidgetKey',
    summary: 'Rotate the public key of a widget',
    description:
      'Gives the widget a new public key. The old key stops working immediately: pages need the new one.',
    params: widgetParams,
    returns: { 200: widgetOutput },
    run: ({ context, params }) => widgets.rotateKey(context, params),
  });
});

import { z } from 'zod';
import { widgetChatInput } from '../services/widgets/widget-chat.inputs.js';
import { bodyRefusals, chunkEvents, error, jsonOf, object, textSchema, usage } from './openapi-parts.js';

/** The edge's operations for visitors of sites that embed a widget. */

const missing = error('There is no such widget (`widget_not_found`).');
const refusals = {
  ...bodyRefusals,
  400: error(
    'The body is not valid JSON (`invalid_body`), or the model rejected the conversation, for example because it is too long (`invalid_request`). The message is free.',
  ),
  403: error(
    'The site is not among the allowed domains (`widget_origin_denied`), or the plan of the owner doesn’t include the model (`model_not_allowed`).',
  ),
  404: missing,
  413: error('The body is larger than 512 KiB (`body_too_large`).'),
  422: error('The conversation is not valid (`validation_error`).'),
  429: error(
    'The widget or this visitor has had too many messages (`widget_rate_limit`), the messages keep repeating (`widget_loop_detected`), a limit of the widget is reached (`widget_daily_cap_exceeded`, `widget_monthly_limit_exceeded`), or too many requests from this network were rejected (`rate_limit_exceeded`). The message is free.',
  ),
  502: error('The model failed to answer (`upstream_error`). The message is free.'),
  503: error(
    'The owner’s balance is used up (`widget_owner_insufficient_balance`), the widget is not connected to its model (`upstream_unconfigured`), no node is available (`upstream_unavailable`), or the service is busy or restarting (`service_unavailable`). The message is free.',
  ),
  504: error('The model didn’t answer in time (`upstream_timeout`). The message is free.'),
};

/** zod puts a named schema among the definitions of a document of its own. */
const { $defs: definitions } = z.toJSONSchema(widgetChatInput, { io: 'input' });

export const widgetSchemas = {
  WidgetChatRequest: definitions!.WidgetChat,
  WidgetChatAnswer: object('The answer to a visitor.', {
    session_id: textSchema('ID of the conversation. Send it with the next message.'),
    message: object('The message of the assistant.', {
      role: textSchema('Always `assistant`.'),
      content: textSchema('Text of the answer or the refusal, without thinking; may be empty.'),
      mac: textSchema('Authenticates the message. Send it back with the history.'),
    }),
    usage: usage('Token counts that are charged to the owner.'),
  }),
  WidgetConfig: object('How a widget looks. The system prompt is never shown.', {
    name: textSchema('Widget name.'),
    greeting_message: textSchema('First message that a visitor sees.'),
    placeholder: textSchema('Placeholder of the input field.'),
    theme: object('Color and position.', {
      primary: textSchema('Color, `#rrggbb`.'),
      position: textSchema('`bottom-right` or `bottom-left`.'),
    }),
  }),
};

const json = jsonOf(widgetSchemas);
const tags = ['Widgets'];

export const widgetPaths = {
  '/api/widget/{key}/config': {
    get: {
      operationId: 'getWidgetConfig',
      summary: 'Get the appearance of a widget',
      description: 'For pages that embed the widget. Readable by scripts on the allowed domains only.',
      tags,
      security: [],
      parameters: [
        {
          name: 'key',
          in: 'path',
          required: true,
          description: 'Public key of the widget.',
          schema: { type: 'string' },
        },
      ],
      responses: {
        200: { description: 'The appearance.', content: json('WidgetConfig') },
        404: missing,
        429: error('Too many requests from this network were rejected (`rate_limit_exceeded`).'),
        503: error('The service is temporarily unavailable (`service_unavailable`).'),
      },
    },
  },
  '/api/widget/chat': {
    post: {
      operationId: 'chatWithWidget',
      summary: 'Answer a visitor',
      description:
        'Answers a message of a visitor and charges the owner of the widget. With `stream`, the chunks are those of `/v1/chat/completions`. `Origin` must be one of the allowed domains, if there are any.',
      tags,
      security: [],
      requestBody: { required: true, content: json('WidgetChatRequest') },
      responses: {
        200: {
          description: 'The answer, or a stream of events if `stream` is true.',
          content: {
            ...json('WidgetChatAnswer'),
            ...chunkEvents,
          },
        },
        ...refusals,
      },
    },
  },
};

import {
  booleanSchema,
  enumSchema,
  error,
  integerSchema,
  jsonOf,
  list,
  object,
  textSchema,
} from './openapi-parts.js';

/** `POST /v1/responses`, which exists only where the operator has set RESPONSES_API. */

const REQUEST_DESCRIPTION =
  'A conversation to continue, with everything that the model needs: nothing is stored between calls. `previous_response_id`, `conversation`, `prompt`, `background: true`, `store: true`, item references and file IDs return 400. Unknown fields are dropped and listed in `x-gateway-dropped-fields`.';

export const responsesSchemas = {
  ResponsesRequest: {
    type: 'object',
    description: REQUEST_DESCRIPTION,
    required: ['model', 'input'],
    properties: {
      model: {
        ...textSchema('Public name of a chat model of your plan, as listed by `GET /v1/models`.'),
        example: 'gateway/fast',
      },
      input: {
        description:
          'A text, or the whole conversation, oldest first: items of type `message`, `function_call`, `function_call_output` or `reasoning`.',
        anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'object' } }],
        example: 'Hello!',
      },
      instructions: textSchema('A system message before the conversation.'),
      stream: booleanSchema('Whether to stream the response as server-sent events.'),
      max_output_tokens: { ...integerSchema('Maximum output tokens.'), minimum: 1 },
      temperature: { type: 'number', minimum: 0, maximum: 2, description: 'Sampling temperature.' },
      top_p: { type: 'number', minimum: 0, maximum: 1, description: 'Nucleus sampling.' },
      tools: list('Functions that the model may call. Other tools return 400.'),
      tool_choice: {
        description: '`auto`, `none`, `required`, or the function that the model must call.',
        anyOf: [{ type: 'string', enum: ['auto', 'none', 'required'] }, { type: 'object' }],
      },
      text: object('`format`: `text`, `json_object` or `json_schema`. `verbosity` is passed on.'),
      reasoning: object('`effort` is passed on.'),
      metadata: object('Returned with the response, and not forwarded.'),
    },
  },
  Response: object('A response of the model. Other fields as in OpenAI’s API.', {
    id: textSchema(
      'Response ID. It is made from `x-request-id` and can’t be used to read the response again.',
    ),
    object: enumSchema('Object type.', 'response'),
    created_at: integerSchema('Creation time, in Unix seconds.'),
    status: enumSchema(
      'State of the response. Only events have `in_progress` and `failed`.',
      'in_progress',
      'completed',
      'incomplete',
      'failed',
    ),
    model: textSchema('Model that answered: a fallback if no node of the requested model is available.'),
    output: list('Items of type `message`, `function_call` or `reasoning`.'),
    usage: object('Token counts that are charged.', {
      input_tokens: integerSchema('Input tokens.'),
      output_tokens: integerSchema('Output tokens.'),
      total_tokens: integerSchema('Sum of input and output tokens.'),
    }),
    store: enumSchema('Always false: responses are not stored.', false),
  }),
};

const json = jsonOf(responsesSchemas);

/** Like the other inference operations, with its own differences. */
export const responsesOperation = (answersOfCalls: object) => ({
  summary: 'Create a response',
  description:
    'Available only if the operator has set `RESPONSES_API=1`; otherwise returns 404. The request becomes a chat call and is checked, limited and charged as one; `endpoint` is `chat` in the usage list. Failed calls are free.',
  requestBody: { required: true, content: json('ResponsesRequest') },
  responses: {
    200: {
      description: 'The response, or a stream of events if `stream` is true.',
      content: {
        ...json('Response'),
        'text/event-stream': {
          schema: textSchema(
            'Events from `response.created` to `response.completed` or `response.incomplete`. A stream that fails ends with `response.failed` and `error`.',
          ),
        },
      },
    },
    ...answersOfCalls,
    404: error('`RESPONSES_API` is not set (`endpoint_not_supported`).'),
    413: error('The body is larger than 1 MiB (`body_too_large`).'),
  },
});

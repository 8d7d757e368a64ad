/** What the descriptions of the edge's answers share, which no zod schema makes. */

export const error = (description: string) => ({
  description,
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
});

/** What is refused of any body that the edge reads, whatever it says. */
export const bodyRefusals = {
  408: error('The body arrived too slowly (`invalid_request`).'),
  415: error('The body has a content encoding (`unsupported_media_type`).'),
};

export const textSchema = (description: string) => ({ type: 'string', description });

export const booleanSchema = (description: string) => ({ type: 'boolean', description });

/** A list, of objects where nothing else is said. */
export const list = (description: string, items: object = { type: 'object' }) => ({
  type: 'array',
  description,
  items,
});

export const enumSchema = (description: string, ...values: (string | boolean)[]) => ({
  type: typeof values[0],
  enum: values,
  description,
});

export const object = (description: string, properties?: object) => ({
  type: 'object',
  description,
  ...(properties && { properties }),
});

/** The names of schemas, as contents of requests and answers. */
export const jsonOf =
  <Name extends string>(_schemas: Record<Name, unknown>) =>
  (name: Name) => ({ 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } });

export const integerSchema = (description: string) => ({ type: 'integer', minimum: 0, description });

/** Token counts of an answer. */
export const usage = (description: string) =>
  object(description, {
    prompt_tokens: integerSchema('Input tokens.'),
    completion_tokens: integerSchema('Output tokens.'),
    total_tokens: integerSchema('Sum of both.'),
  });

/** The body of an answer that is sent as events. */
export const chunkEvents = {
  'text/event-stream': { schema: textSchema('Lines `data: {…}` with chunks, followed by `data: [DONE]`.') },
};

/** Parts that descriptions of the edge's responses share, and that no zod schema produces. */

export const error = (description: string) => ({
  description,
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
});

/** Refusals of any body that the edge reads. */
export const bodyRefusals = {
  408: error('The body arrived too slowly (`invalid_request`).'),
  415: error('The body has a content encoding (`unsupported_media_type`).'),
};

export const textSchema = (description: string) => ({ type: 'string', description });

export const booleanSchema = (description: string) => ({ type: 'boolean', description });

/** A list, by default of objects. */
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

/** References to schemas by name, as contents of requests and responses. */
export const jsonOf =
  <Name extends string>(_schemas: Record<Name, unknown>) =>
  (name: Name) => ({ 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } });

export const integerSchema = (description: string) => ({ type: 'integer', minimum: 0, description });

/** Token counts of a response. */
export const usage = (description: string) =>
  object(description, {
    prompt_tokens: integerSchema('Input tokens.'),
    completion_tokens: integerSchema('Output tokens.'),
    total_tokens: integerSchema('Sum of input and output tokens.'),
  });

/** Body of a streamed response. */
export const chunkEvents = {
  'text/event-stream': { schema: textSchema('Lines `data: {…}` with chunks, followed by `data: [DONE]`.') },
};

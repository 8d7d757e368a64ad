/** What the descriptions of the edge's answers share, which no zod schema makes. */

export const error = (description: string) => ({
  description,
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
});

export const text = (description: string) => ({ type: 'string', description });

export const whole = (description: string) => ({ type: 'integer', minimum: 0, description });

/** Token counts of an answer. */
export const usage = (description: string) => ({
  type: 'object',
  description,
  properties: {
    prompt_tokens: whole('Input tokens.'),
    completion_tokens: whole('Output tokens.'),
    total_tokens: whole('Sum of both.'),
  },
});

/** The body of an answer that is sent as events. */
export const chunkEvents = {
  'text/event-stream': { schema: text('Lines `data: {…}` with chunks, followed by `data: [DONE]`.') },
};

import { z } from 'zod';
import { characters, fitsCharacters } from '../../lib/characters.js';

/** Limits of a conversation. */
export const MAX_MESSAGES = 50;
export const MAX_MESSAGE_CHARACTERS = 8_000;
export const MAX_CHARACTERS = 32_000;
/** Maximum position in a conversation at which a request may begin. */
const MAX_OFFSET = 1_000_000;

const message = z.strictObject({
  role: z.enum(['user', 'assistant'], 'must be user or assistant').describe('`user` or `assistant`.'),
  content: z
    .string('must be text')
    .min(1, 'must not be empty')
    .refine((text) => fitsCharacters(text, MAX_MESSAGE_CHARACTERS), 'must be at most 8,000 characters')
    .refine((text) => text.isWellFormed(), 'must be valid Unicode')
    .meta({ maxLength: MAX_MESSAGE_CHARACTERS })
    .describe('Text, up to 8,000 characters.'),
  mac: z
    .string('must be text')
    .max(100)
    .nullish()
    .describe('The `mac` that came with a message of the assistant.'),
});

/** A request of a visitor. */
export const widgetChatInput = z
  .strictObject({
    public_key: z.string('must be text').describe('Public key of the widget.'),
    messages: z
      .array(message, 'must be a list of messages')
      .min(1, 'must not be empty')
      .max(MAX_MESSAGES, 'must have at most 50 messages')
      .refine(
        (messages) => messages.reduce((sum, { content }) => sum + characters(content), 0) <= MAX_CHARACTERS,
        'must have at most 32,000 characters together',
      )
      .refine((messages) => messages.at(-1)?.role !== 'assistant', 'must end with a message of the user')
      .describe('The conversation so far, oldest first, ending with the message to answer.'),
    session_id: z
      .string('must be text')
      .regex(/^[\x21-\x7e]{1,128}$/, 'must be 1 to 128 printable ASCII characters without spaces')
      .nullish()
      .describe('Names the conversation. Generated if omitted.'),
    stream: z.boolean('must be true or false').nullish().describe('Whether to stream the answer.'),
    offset: z
      .int('must be a whole number')
      .min(0)
      .max(MAX_OFFSET)
      .nullish()
      .describe('Number of earlier messages that are left out of `messages`.'),
  })
  .meta({ id: 'WidgetChat', description: 'A message of a visitor.' });
export type WidgetChatInput = z.output<typeof widgetChatInput>;

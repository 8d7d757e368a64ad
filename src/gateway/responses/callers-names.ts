import { AppError } from '../../errors.js';
import { itemsOfMessages } from './chat-request.js';
import type { ResponsesRequest } from './request-schema.js';

/** Members of a chat request that have another name in the Responses API. */
const CALLERS_NAMES: Readonly<Record<string, string>> = {
  messages: 'input',
  max_tokens: 'max_output_tokens',
  max_completion_tokens: 'max_output_tokens',
  response_format: 'text.format',
  reasoning_effort: 'reasoning.effort',
  verbosity: 'text.verbosity',
};
/** Members of a message part that have another name in the Responses API. */
const PART_NAMES: Readonly<Record<string, string>> = {
  '.image_url.url': '.image_url',
  '.file.file_data': '.file_data',
  '.input_audio.data': '.input_audio.data',
};
const PART = /^messages\[(\d+)\]\.content(\[\d+\])(.*)$/;

/** Rewrites an error about the chat request to use the names of the caller's `request`. */
export function inCallersNames(error: unknown, request: ResponsesRequest): unknown {
  if (!(error instanceof AppError) || error.code !== 'invalid_body') return error;
  const { param } = error.options;
  if (typeof param !== 'string') return error;
  const name = placeOfPart(param, request) ?? callersName(param);
  if (name === undefined) return error;
  return new AppError('invalid_body', {
    message: error.message.replace(`"${param}"`, `"${name}"`),
    param: name,
  });
}

/** The caller's name of the chat request's member that contains a param; undefined if it is the same. */
export const callersName = (param: string): string | undefined =>
  CALLERS_NAMES[/^\w+/.exec(param)?.[0] ?? ''];

/** The caller's path of a message part, such as `input[0].content[1].image_url`; undefined for other params. */
function placeOfPart(param: string, request: ResponsesRequest): string | undefined {
  const [, message, part, member = ''] = PART.exec(param) ?? [];
  if (message === undefined) return undefined;
  const index = itemsOfMessages(request)[Number(message)];
  const item = index === undefined ? undefined : request.input[index];
  if (typeof item !== 'object') return undefined;
  const list = item.type === 'function_call_output' ? 'output' : 'content';
  return `input[${index}].${list}${part}${PART_NAMES[member] ?? ''}`;
}

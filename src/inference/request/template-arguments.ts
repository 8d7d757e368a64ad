import { AppError } from '../../errors.js';
import { type Member, scanObject } from '../../lib/json-scan.js';
import type { AllowedFields } from './body-fields.js';

/** The member with arguments that vLLM and SGLang pass to the chat template, in addition to their own. */
export const TEMPLATE_ARGUMENTS = 'chat_template_kwargs';

/** Arguments documented by templates of open models. */
const KNOWN = new Set([
  ...['add_vision_id', 'clear_thinking', 'date_string', 'enable_thinking', 'force_nonempty_content'],
  ...['low_effort', 'preserve_thinking', 'reasoning_budget', 'reasoning_effort', 'thinking'],
  ...['thinking_budget', 'thinking_mode', 'tools_in_user_message', 'truncate_history_thinking'],
]);
/** Longest value. A template may repeat an argument, and the known ones need a word at most. */
const LONGEST_VALUE_BYTES = 64;
const MOST_BYTES = 64 * 1024;
const MOST_ARGUMENTS = 64;
const MAX_DEPTH = 64;

const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const LOWER_N = 0x6e;

/** Template arguments for the upstream. */
export interface TemplateArguments {
  /** The object without dropped arguments; undefined: it passes as it came. */
  value: Buffer | undefined;
  /** Names of dropped arguments, each after the member's name. */
  dropped: string[];
}

const AS_IT_CAME: TemplateArguments = { value: undefined, dropped: [] };

/**
 * Filters the arguments of a chat template, so that none can replace the template, the conversation or the options of the
 * tokenizer. The body must be valid JSON.
 * @throws AppError `invalid_body`
 */
export function templateArguments(body: Buffer, member: Member, allowed: AllowedFields): TemplateArguments {
  const { valueStart, end } = member;
  if (body[valueStart] === LOWER_N) return AS_IT_CAME;
  if (body[valueStart] !== OPEN_BRACE) throw invalid('must be an object');
  if (end - valueStart > MOST_BYTES) throw invalid('is longer than 64 KiB');
  const { members } = scanObject(body, valueStart, MAX_DEPTH);
  if (members.length > MOST_ARGUMENTS) throw invalid(`must have at most ${MOST_ARGUMENTS} properties`);
  const nameOf = ({ key }: Member): string => `${TEMPLATE_ARGUMENTS}.${key}`;
  const kept = members.filter(
    (argument) => allowed.has(nameOf(argument)) || (KNOWN.has(argument.key) && isShort(body, argument)),
  );
  if (kept.length === members.length) return AS_IT_CAME;
  const text = kept.map(({ start, end: stop }) => body.toString('latin1', start, stop)).join(',');
  const passed = new Set(kept);
  const dropped = members.filter((argument) => !passed.has(argument)).map(nameOf);
  return { value: Buffer.from(`{${text}}`, 'latin1'), dropped };
}

/** A literal, a number or a short text. */
const isShort = (body: Buffer, { valueStart, end }: Member): boolean =>
  body[valueStart] !== OPEN_BRACE &&
  body[valueStart] !== OPEN_BRACKET &&
  end - valueStart <= LONGEST_VALUE_BYTES;

const invalid = (fault: string): AppError =>
  new AppError('invalid_body', { message: `"${TEMPLATE_ARGUMENTS}" ${fault}.`, param: TEMPLATE_ARGUMENTS });

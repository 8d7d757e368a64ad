import { AppError } from '../../errors.js';
import { eachElement, type Member, scanObject } from '../../lib/json-scan.js';
import { readKey } from '../../lib/json-tokens.js';
import { printableName } from './body-fields.js';

/** Types of tools that the caller runs. All others run at the upstream, at the operator's cost and inside its network. */
const KINDS = new Set(['function', 'custom']);
/** Members of these tools, in OpenAI's two forms and with Anthropic's cache marks. */
const TOOL_MEMBERS = new Set([
  ...['type', 'function', 'custom', 'name', 'description', 'parameters', 'strict', 'format', 'cache_control'],
]);
/** More than any context holds. */
const MOST_BYTES = 1024 * 1024;

const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const QUOTE = 0x22;
const LOWER_N = 0x6e;

const invalid = (message: string, param: string): AppError =>
  new AppError('invalid_body', { message, param });

/**
 * Refuses tools that the upstream would run itself, such as `mcp` with its `server_url`. The body must be valid JSON with
 * `tools` only once.
 * @throws AppError `invalid_body`
 */
export function checkTools(body: Buffer, members: readonly Member[]): void {
  const member = members.find(({ key }) => key === 'tools');
  if (!member || body[member.valueStart] === LOWER_N) return;
  if (body[member.valueStart] !== OPEN_BRACKET) throw invalid('"tools" must be an array.', 'tools');
  if (member.end - member.valueStart > MOST_BYTES) throw invalid('"tools" is longer than 1 MiB.', 'tools');
  let index = 0;
  eachElement(body, member.valueStart, (start) => {
    if (body[start] !== OPEN_BRACE) throw notAnObject(index);
    const { members: fields, end } = scanObject(body, start);
    if (fields.length > MOST_MEMBERS)
      throw invalid(`"tools[${index}]" has more than ${MOST_MEMBERS} properties.`, `tools[${index}]`);
    const types = fields
      .filter(({ key }) => key === 'type')
      .map(({ valueStart, end: stop }) => typeOf(body, valueStart, stop));
    checkTool(
      fields.map(({ key }) => key),
      types,
      index++,
    );
    return end;
  });
}

/** Most members of a tool, including repeated names. */
const MOST_MEMBERS = 64;
/** A longer text can't be a known type, even if it is escaped. */
const LONGEST_TYPE = 256;

const typeOf = (body: Buffer, start: number, end: number): string | null =>
  body[start] === QUOTE && end - start <= LONGEST_TYPE ? readKey(body, start, end) : null;

function notAnObject(index: number): AppError {
  const param = `tools[${index}]`;
  return invalid(`"${param}" must be an object.`, param);
}

/** Checks the type first, since the other members depend on it. */
function checkTool(names: readonly string[], types: readonly unknown[], index: number): void {
  if (types.length === 0 || !types.every((type) => typeof type === 'string' && KINDS.has(type))) {
    const param = `tools[${index}].type`;
    const [given] = types.filter((type) => typeof type === 'string' && !KINDS.has(type));
    const shown = typeof given === 'string' ? `, not "${printableName(given)}"` : '';
    throw invalid(`"${param}" must be "function" or "custom"${shown}.`, param);
  }
  const other = names.find((name) => !TOOL_MEMBERS.has(name));
  if (other === undefined) return;
  const param = `tools[${index}].${printableName(other)}`;
  throw invalid(`"${param}" is not supported.`, param);
}

import { AppError } from '../errors.js';
import { type Member, readKey, scanObject, skipSpace } from '../lib/json-scan.js';
import { shownName } from './body-fields.js';

/** Kinds of tools that the caller runs. All others run at the upstream, at the operator's cost and from its network. */
const KINDS = new Set(['function', 'custom']);
/** Members of such tools, in OpenAI's two forms and with Anthropic's cache marks. */
const TOOL_MEMBERS = new Set([
  ...['type', 'function', 'custom', 'name', 'description', 'parameters', 'strict', 'format', 'cache_control'],
]);
/** More than any context holds; the list is read in one turn. */
const MOST_BYTES = 1024 * 1024;
const MAX_DEPTH = 64;

const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const QUOTE = 0x22;
const LOWER_N = 0x6e;

const invalid = (message: string, param: string): AppError =>
  new AppError('invalid_body', { message, param });

/**
 * Refuses tools that the upstream would run itself, such as `mcp` with its `server_url`. `parsed` is the value of
 * `tools` where the body was parsed; of others, which are large, the bytes are read. The body must be valid JSON and name
 * `tools` once.
 * @throws AppError `invalid_body`
 */
export function checkTools(body: Buffer, members: readonly Member[], parsed: unknown): void {
  if (parsed !== undefined) {
    checkParsed(parsed);
    return;
  }
  const member = members.find(({ key }) => key === 'tools');
  if (!member || body[member.valueStart] === LOWER_N) return;
  if (body[member.valueStart] !== OPEN_BRACKET) throw NO_LIST();
  if (member.end - member.valueStart > MOST_BYTES) throw invalid('"tools" is too long.', 'tools');
  checkBytes(body, member.valueStart);
}

const NO_LIST = (): AppError => invalid('"tools" must be a list.', 'tools');

/** Null is no list, and asks for nothing. */
function checkParsed(tools: unknown): void {
  if (tools === null) return;
  if (!Array.isArray(tools)) throw NO_LIST();
  tools.forEach((tool: unknown, index) => {
    if (typeof tool !== 'object' || tool === null || Array.isArray(tool)) throw noObject(index);
    checkTool(Object.keys(tool), [(tool as { type?: unknown }).type], index);
  });
}

function checkBytes(body: Buffer, from: number): void {
  let at = skipSpace(body, from + 1);
  if (body[at] === CLOSE_BRACKET) return;
  for (let index = 0; ; index++) {
    if (body[at] !== OPEN_BRACE) throw noObject(index);
    const members: Member[] = [];
    at = skipSpace(body, scanObject(body, at, MAX_DEPTH, members));
    const types = members
      .filter(({ key }) => key === 'type')
      .map(({ valueStart, end }) => (body[valueStart] === QUOTE ? readKey(body, valueStart, end) : null));
    checkTool(
      members.map(({ key }) => key),
      types,
      index,
    );
    if (body[at] !== COMMA) return;
    at = skipSpace(body, at + 1);
  }
}

function noObject(index: number): AppError {
  const param = `tools[${index}]`;
  return invalid(`"${param}" must be an object.`, param);
}

/** The type comes first: the other members follow from it. */
function checkTool(names: readonly string[], types: readonly unknown[], index: number): void {
  if (types.length === 0 || !types.every((type) => typeof type === 'string' && KINDS.has(type))) {
    const param = `tools[${index}].type`;
    const [given] = types.filter((type) => typeof type === 'string' && !KINDS.has(type));
    const shown = typeof given === 'string' ? `, not "${shownName(given)}"` : '';
    throw invalid(`"${param}" must be "function" or "custom"${shown}.`, param);
  }
  const other = names.find((name) => !TOOL_MEMBERS.has(name));
  if (other === undefined) return;
  const param = `tools[${index}].${shownName(other)}`;
  throw invalid(`"${param}" is not supported.`, param);
}

import { type Edit, type Member, splice } from '../lib/json-scan.js';
import { skipSpace } from '../lib/json-tokens.js';

/** The two fields that bound an answer's length. Older servers obey only the first, newer models only the second. */
export const BOUND_FIELDS = ['max_tokens', 'max_completion_tokens'] as const;
export type BoundField = (typeof BOUND_FIELDS)[number];
/** The fields that a node gets. */
export type BoundFields = BoundField | 'both';

/** First byte of `null`. */
const LOWER_N = 0x6e;
const COMMA = 0x2c;
const NOTHING = Buffer.alloc(0);
const otherOf = (field: BoundField): BoundField =>
  field === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens';

/** The bound of one call as its caller sent it. */
export class OutputBound {
  readonly #given = new Map<BoundField, Member>();
  readonly #null = new Map<BoundField, Member>();

  /** @param members The body's members; other fields are ignored. */
  constructor(body: Buffer, members: readonly Member[]) {
    for (const member of members) {
      const field = BOUND_FIELDS.find((one) => one === member.key);
      if (field) (body[member.valueStart] === LOWER_N ? this.#null : this.#given).set(field, member);
    }
  }

  /** Whether the caller set a bound other than `null`. */
  get isSet(): boolean {
    return this.#given.size > 0;
  }

  /** The body with its `model` replaced and the bound in `fields`. With `both`, two bounds that differ are left unchanged. */
  bodyFor(body: Buffer, fields: BoundFields, model: Member, name: Buffer): Buffer {
    const edits: Edit[] = [{ start: model.valueStart, end: model.end, bytes: name }];
    for (const field of BOUND_FIELDS) {
      const given = this.#given.get(field);
      const fallback = this.#given.get(otherOf(field));
      if (fields !== 'both' && fields !== field) {
        const unwanted = given ?? (this.isSet ? this.#null.get(field) : undefined);
        if (unwanted) edits.push({ ...withComma(body, unwanted), bytes: NOTHING });
      } else if (!given && fallback) {
        const value = body.subarray(fallback.valueStart, fallback.end);
        const empty = this.#null.get(field);
        if (empty) edits.push({ start: empty.valueStart, end: empty.end, bytes: value });
        else edits[0]!.bytes = Buffer.concat([edits[0]!.bytes, Buffer.from(`,"${field}":`), value]);
      }
    }
    return splice(
      body,
      edits.sort((one, other) => one.start - other.start),
    );
  }
}

/** The range of a member with the comma after it, or the one before it for the last member. The object has other members. */
function withComma(body: Buffer, { start, end }: Member): { start: number; end: number } {
  const next = skipSpace(body, end);
  if (body[next] === COMMA) return { start, end: next + 1 };
  return { start: body.lastIndexOf(COMMA, start), end };
}

/** How nodes refuse a field: wording before or after the field's name. */
const REFUSED_BEFORE =
  /(?:(?:unsupported|unknown|unrecognized|unexpected|extra) (?:request |keyword |body )?(?:parameter|argument|field|property|input|name|key|member)s?(?: supplied)?|(?:argument|parameter) not supported[a-z ]{0,30}):? ?["'`]?(max_completion_tokens|max_tokens)/i;
const REFUSED_BEHIND =
  /(max_completion_tokens|max_tokens)["'`]?:? (?:is |are |was )?(?:not supported|unsupported|unexpected|not permitted|not allowed|extra (?:inputs|fields) (?:are )?not permitted)(?! to| above| below| for values)/i;
const NOT_BOTH =
  /at the same time|only one of|mutually exclusive|not both|both be (?:set|used|specified|provided)|be (?:set|used|specified|provided) (?:both|together|with)/i;
const INSTEAD = /(max_completion_tokens|max_tokens)["'`]? instead/i;
const NAMED = /max_completion_tokens|max_tokens/g;
const REFUSING_CODES = new Set([
  'unsupported_parameter',
  'unknown_parameter',
  'invalid_parameter_combination',
]);
/** The rest of a long refusal may quote the caller. */
const MOST_READ = 500;

/**
 * The field that a node accepts, if its refusal rejects the other field or the combination. Undefined for any other refusal, such
 * as one of the bound's value.
 */
export function fieldTaken(message: string, code: unknown, param: unknown): BoundField | undefined {
  const excerpt = message.slice(0, MOST_READ);
  const named = BOUND_FIELDS.find((field) => field === param);
  const fields = new Set(excerpt.match(NAMED));
  if (fields.size === 0 && !named) return undefined;
  const isBoth = fields.size === BOUND_FIELDS.length;
  const instead = isBoth ? INSTEAD.exec(excerpt)?.[1] : undefined;
  if (instead) return fieldOf(instead);
  const refused = (REFUSED_BEHIND.exec(excerpt) ?? REFUSED_BEFORE.exec(excerpt))?.[1];
  if (refused) return otherOf(fieldOf(refused));
  if (named && REFUSING_CODES.has(String(code))) return otherOf(named);
  return isBoth && NOT_BOTH.test(excerpt) ? 'max_completion_tokens' : undefined;
}

const fieldOf = (name: string): BoundField =>
  name.toLowerCase() === 'max_tokens' ? 'max_tokens' : 'max_completion_tokens';

import type { Member } from '../../lib/json-scan.js';
import { type AllowedFields, passes, toldNames } from './body-fields.js';
import { arePlain, droppedOptions, optionsToSend, STREAM_OPTIONS } from './stream-options.js';
import { TEMPLATE_ARGUMENTS, type TemplateArguments, templateArguments } from './template-arguments.js';

/** A body on its way upstream. */
export interface ForwardedBody {
  /** Members that pass. */
  kept: Member[];
  bytes: Buffer;
  /** Names of what doesn't pass, as the value of a header; undefined when there is nothing. */
  dropped: string | undefined;
}

/** What is changed on purpose. */
export interface Changes {
  /** Whether the answer is a stream, which asks for usage whatever its `options` say. */
  stream: boolean;
  options: Record<string, unknown> | null;
  /** The model to name in place of the one that is asked for; null: that one. */
  movedTo: string | null;
}

const OPEN = Buffer.from('{');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from('}');

/**
 * Makes the forwarded body from valid JSON: its raw bytes, without what may not pass, and with what is changed.
 * @throws AppError `invalid_body`
 */
export function forwardedBody(
  body: Buffer,
  members: Member[],
  allowed: AllowedFields,
  { stream, options, movedTo }: Changes,
): ForwardedBody {
  const kept = members.filter((member) => passes(body, member, allowed));
  const reduced = changedMembers(body, kept, allowed, movedTo);
  const whole = kept.length === members.length && reduced.size === 0;
  const asked = stream ? kept.find(({ key }) => key === STREAM_OPTIONS) : undefined;
  const replaces = stream && !(asked && arePlain(body, asked));
  if (whole && (!replaces || !asked)) {
    return { kept, bytes: replaces ? insertFirst(body, members) : body, dropped: undefined };
  }
  const parts = kept
    .filter((member) => !replaces || member !== asked)
    .flatMap((member) => partsOf(body, member, reduced.get(member)?.value));
  if (replaces) parts.push(COMMA, optionsToSend(options));
  const dropped = whole ? [] : droppedNames(members, kept, reduced);
  if (replaces) dropped.push(...droppedOptions(options));
  return {
    kept,
    bytes: Buffer.concat([OPEN, ...parts.slice(1), CLOSE]),
    dropped: dropped.length > 0 ? toldNames(dropped) : undefined,
  };
}

/** Members whose value is another, and what of them doesn't pass. */
type Reduced = ReadonlyMap<Member, TemplateArguments>;

const NONE: Reduced = new Map();

/** Fields of which only a part passes, and the model if it is replaced. */
function changedMembers(
  body: Buffer,
  kept: readonly Member[],
  allowed: AllowedFields,
  movedTo: string | null,
): Reduced {
  let reduced: Map<Member, TemplateArguments> | undefined;
  for (const member of kept) {
    const sorted =
      member.key === TEMPLATE_ARGUMENTS
        ? templateArguments(body, member, allowed)
        : member.key === 'model' && movedTo !== null
          ? { value: Buffer.from(JSON.stringify(movedTo)), dropped: [] }
          : undefined;
    if (sorted?.value) reduced = (reduced ?? new Map()).set(member, sorted);
  }
  return reduced ?? NONE;
}

/** A comma and a member, with another value where there is one. */
function partsOf(body: Buffer, { start, valueStart, end }: Member, value: Buffer | undefined): Buffer[] {
  return value ? [COMMA, body.subarray(start, valueStart), value] : [COMMA, body.subarray(start, end)];
}

const droppedNames = (members: readonly Member[], kept: readonly Member[], reduced: Reduced): string[] => {
  const passed = new Set(kept);
  return members.flatMap((member) =>
    passed.has(member) ? (reduced.get(member)?.dropped ?? []) : [member.key],
  );
};

function insertFirst(body: Buffer, members: readonly Member[]): Buffer {
  const at = members[0]!.start;
  return Buffer.concat([body.subarray(0, at), optionsToSend(null), COMMA, body.subarray(at)]);
}

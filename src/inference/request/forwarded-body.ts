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

const OPEN = Buffer.from('{');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from('}');

/**
 * Makes the forwarded body from valid JSON: its raw bytes, without what may not pass. A stream requests usage, whatever
 * its `options` say.
 * @throws AppError `invalid_body`
 */
export function forwardedBody(
  body: Buffer,
  members: Member[],
  allowed: AllowedFields,
  stream: boolean,
  options: Record<string, unknown> | null,
): ForwardedBody {
  const kept = members.filter((member) => passes(body, member, allowed));
  const reduced = reducedMembers(body, kept, allowed);
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

type Reduced = ReadonlyMap<Member, TemplateArguments>;

const NONE: Reduced = new Map();

/** Fields of which only a part passes. */
function reducedMembers(body: Buffer, kept: readonly Member[], allowed: AllowedFields): Reduced {
  let reduced: Map<Member, TemplateArguments> | undefined;
  for (const member of kept) {
    if (member.key !== TEMPLATE_ARGUMENTS) continue;
    const sorted = templateArguments(body, member, allowed);
    if (sorted.value) reduced = (reduced ?? new Map()).set(member, sorted);
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

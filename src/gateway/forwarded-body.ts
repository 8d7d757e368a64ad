import type { Member } from '../lib/json-scan.js';
import { type AllowedFields, passes, toldNames } from './body-fields.js';
import { TEMPLATE_ARGUMENTS, type TemplateArguments, templateArguments } from './template-arguments.js';

/** A body on its way upstream. */
export interface ForwardedBody {
  /** Members that pass. */
  kept: Member[];
  bytes: Buffer;
  /** Names of what doesn't pass, as the value of a header; undefined when there is nothing. */
  dropped: string | undefined;
}

const INCLUDE_USAGE = Buffer.from('"stream_options":{"include_usage":true}');
const OPEN = Buffer.from('{');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from('}');

/**
 * Makes the body that goes upstream of one that is valid JSON: its raw bytes, but for what doesn't pass. `addUsage`
 * asks for usage beside the caller's own stream `options`.
 * @throws AppError `invalid_body`
 */
export function forwardedBody(
  body: Buffer,
  members: Member[],
  allowed: AllowedFields,
  addUsage: boolean,
  options: Record<string, unknown> | null,
): ForwardedBody {
  const kept = members.filter((member) => passes(body, member, allowed));
  const reduced = reducedMembers(body, kept, allowed);
  const whole = kept.length === members.length && reduced.size === 0;
  const hasOptions = addUsage && kept.some(({ key }) => key === 'stream_options');
  if (whole && !hasOptions) {
    return { kept, bytes: addUsage ? insertFirst(body, members) : body, dropped: undefined };
  }
  const parts = kept
    .filter(({ key }) => !addUsage || key !== 'stream_options')
    .flatMap((member) => partsOf(body, member, reduced.get(member)?.value));
  if (addUsage) parts.push(COMMA, usageOption(options));
  return {
    kept,
    bytes: Buffer.concat([OPEN, ...parts.slice(1), CLOSE]),
    dropped: whole ? undefined : droppedNames(members, kept, reduced),
  };
}

type Reduced = ReadonlyMap<Member, TemplateArguments>;

const NONE: Reduced = new Map();

/** Members of which only a part passes. */
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

const droppedNames = (members: readonly Member[], kept: readonly Member[], reduced: Reduced): string => {
  const passed = new Set(kept);
  return toldNames(
    members.flatMap((member) => (passed.has(member) ? (reduced.get(member)?.dropped ?? []) : [member.key])),
  );
};

function insertFirst(body: Buffer, members: readonly Member[]): Buffer {
  const at = members[0]!.start;
  return Buffer.concat([body.subarray(0, at), INCLUDE_USAGE, COMMA, body.subarray(at)]);
}

function usageOption(options: Record<string, unknown> | null): Buffer {
  if (!options) return INCLUDE_USAGE;
  const merged = JSON.stringify({ ...options, include_usage: true });
  // The options were read through latin1: written back the same way, their bytes are what they were.
  return Buffer.from(`"stream_options":${merged}`, 'latin1');
}

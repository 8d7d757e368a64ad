import type { Member } from '../../lib/json-scan.js';
import { type AllowedFields, passes, printableNames } from './body-fields.js';
import { type Reasoning, reasoningOf } from './reasoning.js';
import { arePlain, droppedOptions, optionsToSend, STREAM_OPTIONS } from './stream-options.js';
import { TEMPLATE_ARGUMENTS, type TemplateArguments, templateArguments } from './template-arguments.js';

/** Offsets of a value's first byte and just past it. */
export interface Place {
  start: number;
  end: number;
}

/** A body on its way upstream. */
export interface ForwardedBody {
  /** Members that pass. */
  kept: Member[];
  bytes: Buffer;
  /** Where they name the model; nothing useful for a body that doesn't. */
  modelAt: Place;
  /** Names of what doesn't pass, as the value of a header; undefined when there is nothing. */
  dropped: string | undefined;
}

/** What is changed on purpose. */
export interface Changes {
  /** Whether the answer is a stream, which asks for usage whatever its `options` say. */
  stream: boolean;
  options: Record<string, unknown> | null;
}

const OPEN = Buffer.from('{');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from('}');
const NOTHING = Buffer.alloc(0);

/**
 * Makes the forwarded body from valid JSON: its raw bytes, without what may not pass, and with what is changed.
 * @throws AppError `invalid_body`
 */
export function forwardedBody(
  body: Buffer,
  members: Member[],
  allowed: AllowedFields,
  { stream, options }: Changes,
): ForwardedBody {
  const kept = members.filter((member) => passes(body, member, allowed));
  const model = kept.find(({ key }) => key === 'model');
  const named = model ? body.subarray(model.valueStart, model.end) : NOTHING;
  const template = kept.find(({ key }) => key === TEMPLATE_ARGUMENTS);
  const reduced = template && templateArguments(body, template, allowed);
  const whole = kept.length === members.length && reduced?.value === undefined;
  const asked = stream ? kept.find(({ key }) => key === STREAM_OPTIONS) : undefined;
  const replaces = stream && !(asked && arePlain(body, asked));
  if (whole && (!replaces || !asked)) {
    const bytes = replaces ? insertFirst(body, members) : body;
    const start = (model?.valueStart ?? 0) + bytes.length - body.length;
    return { kept, bytes, modelAt: { start, end: start + named.length }, dropped: undefined };
  }
  const reasoning = reasoningOf(body, members, kept);
  const parts: Buffer[] = [];
  let length = 0;
  let start = 0;
  const add = (part: Buffer): void => {
    parts.push(part);
    length += part.length;
  };
  for (const member of kept) {
    if (replaces && member === asked) continue;
    add(length === 0 ? OPEN : COMMA);
    if (member === model) start = length + member.valueStart - member.start;
    if (member === template && reduced?.value) {
      add(body.subarray(member.start, member.valueStart));
      add(reduced.value);
    } else add(body.subarray(member.start, member.end));
  }
  if (reasoning) {
    add(length === 0 ? OPEN : COMMA);
    add(reasoning.bytes);
  }
  if (replaces) {
    add(length === 0 ? OPEN : COMMA);
    add(optionsToSend(options));
  }
  if (length === 0) add(OPEN);
  add(CLOSE);
  const dropped = whole ? [] : droppedNames(members, kept, { template, reduced, reasoning });
  if (replaces) dropped.push(...droppedOptions(options));
  return {
    kept,
    bytes: Buffer.concat(parts, length),
    modelAt: { start, end: start + named.length },
    dropped: dropped.length > 0 ? printableNames(dropped) : undefined,
  };
}

interface Changed {
  template: Member | undefined;
  reduced: TemplateArguments | undefined;
  reasoning: Reasoning | undefined;
}

function droppedNames(
  members: readonly Member[],
  kept: readonly Member[],
  { template, reduced, reasoning }: Changed,
): string[] {
  const passed = new Set(kept);
  return members.flatMap((member) => {
    if (member === reasoning?.from) return reasoning.dropped;
    if (!passed.has(member)) return [member.key];
    return member === template ? (reduced?.dropped ?? []) : [];
  });
}

function insertFirst(body: Buffer, members: readonly Member[]): Buffer {
  const at = members[0]!.start;
  return Buffer.concat([body.subarray(0, at), optionsToSend(null), COMMA, body.subarray(at)]);
}

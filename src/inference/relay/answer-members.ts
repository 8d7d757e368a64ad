import type { Member } from '../../lib/json-scan.js';
import { saysError } from '../../lib/upstream/error-member.js';
import type { AnswerForm } from './answer-forms.js';

/** The members of an answer, filtered. */
export interface AnswerMembers {
  /** The members that pass, in order. Of duplicates only the last passes, which is the one that parsers use. */
  kept: Member[];
  dropped: number;
  /** The JSON sent in place of values that don't pass. */
  rewritten: Map<Member, string> | undefined;
  /** Whether the answer is an error, regardless of its other members. */
  isError: boolean;
  model: Member | undefined;
  usage: Member | undefined;
  /** `choices`, or `data` of embeddings. */
  content: Member | undefined;
}

/** Filters the members of an answer or chunk by its `form`. `callId` is used where an id has to be replaced. */
export function readAnswer(json: Buffer, members: Member[], form: AnswerForm, callId: string): AnswerMembers {
  const answer: AnswerMembers = {
    kept: members,
    dropped: 0,
    rewritten: undefined,
    isError: false,
    model: undefined,
    usage: undefined,
    content: undefined,
  };
  let seen = 0;
  const kept: Member[] = [];
  // Backwards, since the last of duplicates counts.
  for (let i = members.length - 1; i >= 0; i--) {
    const member = members[i]!;
    const { key } = member;
    if (saysError(json, member)) answer.isError = true;
    const rule = form.get(key);
    if (rule === undefined || (seen & rule.bit) !== 0) continue;
    seen |= rule.bit;
    if (rule.check && !rule.check(json, member.valueStart, member.end)) {
      if (!rule.instead) continue;
      rewrite(answer, member, rule.instead(callId));
    }
    kept.push(member);
    if (key === 'model') answer.model = member;
    else if (key === 'usage') answer.usage = member;
    else if (key === 'choices' || key === 'data') answer.content = member;
  }
  answer.dropped = members.length - kept.length;
  if (answer.dropped > 0) answer.kept = kept.reverse();
  return answer;
}

/** Sends other JSON in place of a member's value. */
export function rewrite(answer: AnswerMembers, member: Member, json: string): void {
  answer.rewritten ??= new Map();
  answer.rewritten.set(member, json);
}

/** Number of members and values that don't pass. */
export const droppedCount = ({ dropped, rewritten }: AnswerMembers): number =>
  dropped + (rewritten?.size ?? 0);

/** An answer rebuilt from the members that pass. */
export interface RebuiltAnswer {
  json: Buffer;
  /** Offset of the value of `choices`. */
  contentAt: number;
}

const OPEN = Buffer.from('{');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from('}');

/** Rebuilds an answer from the members that pass, with `model` as the model's name. `content` replaces the value of that member. */
export function rebuildAnswer(
  json: Buffer,
  answer: AnswerMembers,
  model: string,
  content?: readonly Buffer[],
): RebuiltAnswer {
  const parts: Buffer[] = [];
  let length = 0;
  let contentAt = -1;
  const add = (part: Buffer): void => {
    parts.push(part);
    length += part.length;
  };
  for (const member of answer.kept) {
    const { start, valueStart, end } = member;
    add(parts.length === 0 ? OPEN : COMMA);
    if (member === answer.content) contentAt = length + valueStart - start;
    const value = member === answer.model ? JSON.stringify(model) : answer.rewritten?.get(member);
    if (value !== undefined) {
      add(json.subarray(start, valueStart));
      add(Buffer.from(value));
    } else if (member === answer.content && content) {
      add(json.subarray(start, valueStart));
      for (const part of content) add(part);
    } else add(json.subarray(start, end));
  }
  if (parts.length === 0) add(OPEN);
  add(CLOSE);
  return { json: Buffer.concat(parts, length), contentAt };
}

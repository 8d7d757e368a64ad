import { type Member, memberText, memberValue, scanMembers } from '../../lib/json-scan.js';
import { choicesErrorIn } from '../../lib/upstream/choices-error.js';
import { LayoutUse } from '../../lib/upstream/event-layout.js';
import { FinishedChoices, tellsFinish } from '../../lib/upstream/finish-reason.js';
import {
  COMMENT_EVENT,
  eventData,
  isDataAlone,
  isDone,
  otherLines,
  withoutBlanks,
} from '../../lib/upstream/sse-event.js';
import type { InspectedBody } from '../request/request-body.js';
import { type GeneratedText, generatedText } from '../usage/generated-text.js';
import { isUsageOnly } from '../usage/usage.js';
import { CHAT_CHUNK } from './answer-forms.js';
import { type AnswerMembers, droppedCount, readAnswer, rebuildAnswer, rewrite } from './answer-members.js';
import { ChunkLayout } from './chunk-layout.js';
import type { RelayContext } from './relay-answer.js';
import { reportedUsage } from './reported-usage.js';

/** What an event of a stream contains. `nothing`: the client gets nothing. */
export type EventKind = 'chunk' | 'comment' | 'nothing' | 'done' | 'error' | 'malformed';

/** The part of the relay that the check uses. */
export type ChunkContext = Pick<RelayContext, 'requestId' | 'servedModel' | 'dropped'>;

const DATA = Buffer.from('data: ');
const EVENT_END = Buffer.from('\n\n');

/**
 * Checks the events of a chat stream. A chunk passes with its known members and the model's public name. Lines other than data
 * are dropped, and a comment becomes an empty comment. The fields describe the last event that was read.
 */
export class ChunkCheck {
  /** The event to send, for chunks and comments. */
  out: Buffer = COMMENT_EVENT;
  /** Bytes of generated text. */
  textBytes = 0;
  /** Whether the chunk contains generated output without text: an empty text, or a delta without one. */
  textless = false;
  /** The chunk's `usage`, valid or not; undefined without one. */
  usage: unknown;
  /** The payload of an error. */
  error: Buffer = COMMENT_EVENT;
  /** Set by the first chunk that names a model. */
  servedModel: string | undefined;
  readonly finished: FinishedChoices;
  /** Whether any chunk had a choice. */
  answered = false;

  #layout: ChunkLayout | undefined;
  readonly #layoutUse = new LayoutUse();

  constructor(
    private readonly context: ChunkContext,
    private readonly request: Pick<InspectedBody, 'model' | 'usageAsked' | 'choices'>,
  ) {
    this.finished = new FinishedChoices(request.choices);
  }

  read(event: Buffer): EventKind {
    return this.readAlike(event) ? 'chunk' : this.#readLines(event);
  }

  /** Reads bytes that have the layout of an earlier chunk, and so are one whole chunk. False if the layout differs. */
  readAlike(bytes: Buffer): boolean {
    const layout = this.#layout;
    const textBytes = layout ? layout.textBytes(bytes) : -1;
    if (!layout || textBytes < 0) return false;
    this.usage = undefined;
    this.textBytes = textBytes + layout.otherBytes;
    this.textless = this.textBytes === 0;
    this.out = layout.rebuild(bytes);
    if (layout.dropped > 0) this.context.dropped('member', layout.dropped);
    return true;
  }

  #readLines(event: Buffer): EventKind {
    this.usage = undefined;
    this.textBytes = 0;
    this.textless = false;
    this.out = COMMENT_EVENT;
    if (isDataAlone(event)) return this.#readData(event, eventData(event)!, true);
    const { comments, fields, error } = otherLines(event);
    if (error) {
      this.error = error;
      return 'error';
    }
    if (fields > 0) this.context.dropped('line', fields);
    const data = eventData(event);
    const kind = data ? this.#readData(event, data, false) : 'nothing';
    return kind === 'nothing' && comments > 0 ? 'comment' : kind;
  }

  #readData(event: Buffer, data: Buffer, alone: boolean): EventKind {
    if (withoutBlanks(data).length === 0) return 'nothing';
    if (isDone(data)) return 'done';
    const payload = oneLine(data, alone);
    const answer = this.#membersOf(payload);
    if (!answer) return 'malformed';
    if (answer.isError) {
      this.error = payload;
      return 'error';
    }
    if (hasChoices(payload, answer))
      return this.#readChunk(event, payload, answer, alone && payload === data);
    // SDKs expect choices in every event. An event with only usage becomes the usage chunk, any other a comment.
    if (!hasValue(payload, answer.usage)) return 'comment';
    const chunk = withoutChoice(payload);
    return this.#readChunk(event, chunk, this.#membersOf(chunk)!, false);
  }

  #membersOf(payload: Buffer): AnswerMembers | undefined {
    try {
      const members = scanMembers(payload, Number.POSITIVE_INFINITY);
      return readAnswer(payload, members, CHAT_CHUNK, this.context.requestId);
    } catch {
      return undefined;
    }
  }

  /** @param plain Whether the event is a single data line with this payload. */
  #readChunk(event: Buffer, payload: Buffer, answer: AnswerMembers, plain: boolean): EventKind {
    const content = answer.content!;
    const texts = generatedText(payload, content.valueStart, content.end);
    this.answered ||= content.end - content.valueStart > '[]'.length;
    const asks = (texts.filled && texts.bytes === 0) || !this.finished.all;
    const finishes = asks && tellsFinish(payload, content.valueStart, content.end);
    const error = texts.hasErrorKey || finishes ? choicesErrorIn(payload, content) : undefined;
    if (error) {
      this.error = error;
      return 'error';
    }
    this.textBytes = texts.bytes;
    if (finishes) this.finished.note(payload, content);
    this.textless = texts.filled && texts.bytes === 0 && !finishes;
    const left = droppedCount(answer);
    this.usage = readUsage(payload, answer);
    const changes = this.#rewrites(payload, answer) || answer.dropped > 0 || answer.rewritten !== undefined;
    if (this.usage !== undefined && texts.bytes === 0 && !this.request.usageAsked) {
      if (isUsageOnly(parsed(payload, content))) return 'nothing';
    }
    const rebuilt = changes ? rebuildAnswer(payload, answer, this.#served()) : undefined;
    if (left > 0) this.context.dropped('member', left);
    if (rebuilt) this.out = Buffer.concat([DATA, rebuilt.json, EVENT_END]);
    else this.out = plain ? event : Buffer.concat([DATA, payload, EVENT_END]);
    if (plain && this.usage === undefined) {
      this.#note(event, payload, answer, texts, rebuilt?.contentAt);
    }
    return 'chunk';
  }

  /** Whether the model's name must be replaced. */
  #rewrites(payload: Buffer, { model }: AnswerMembers): boolean {
    if (!model) return false;
    const name = memberText(payload, model);
    if (name !== undefined) this.servedModel ??= this.context.servedModel(name);
    return name !== this.#served();
  }

  #served(): string {
    return this.servedModel ?? this.request.model;
  }

  /** Notes the layout of a checked chunk. `contentAt`: offset of the choices in the rebuilt chunk, if it was rebuilt. */
  #note(
    event: Buffer,
    payload: Buffer,
    answer: AnswerMembers,
    { first, bytes }: GeneratedText,
    contentAt: number | undefined,
  ): void {
    const { content } = answer;
    if (!content || !first) return;
    if (!this.#layoutUse.isWorthNoting(this.#layout)) return;
    const offset = payload.byteOffset - event.byteOffset;
    const place = { start: offset + first.start, end: offset + first.end };
    const moved = contentAt === undefined ? 0 : DATA.length + contentAt - content.valueStart;
    const rebuilt =
      contentAt === undefined
        ? undefined
        : { event: this.out, start: first.start + moved, end: first.end + moved };
    this.#layout = new ChunkLayout(event, place, rebuilt, bytes - first.bytes, droppedCount(answer));
  }
}

const OPEN_BRACKET = 0x5b;
const NO_CHOICE = Buffer.from(',"choices":[]}');

const hasChoices = (json: Buffer, { content }: AnswerMembers): boolean =>
  content !== undefined && json[content.valueStart] === OPEN_BRACKET;

const hasValue = (json: Buffer, member: Member | undefined): boolean =>
  member !== undefined && json.toString('latin1', member.valueStart, member.end) !== 'null';

/** Adds an empty list of choices to a chunk that has members. The added list counts, since it is the last of duplicates. */
const withoutChoice = (json: Buffer): Buffer =>
  Buffer.concat([json.subarray(0, json.lastIndexOf('}')), NO_CHOICE]);

/**
 * Returns the chunk's usage unless it is null or empty, and reduces what the caller gets to token counts. A value that isn't
 * JSON counts as odd, not as missing.
 */
function readUsage(payload: Buffer, answer: AnswerMembers): unknown {
  const { usage } = answer;
  if (!usage) return undefined;
  const text = payload.toString('latin1', usage.valueStart, usage.end);
  if (text === 'null') return undefined;
  const value = parsed(payload, usage);
  const reported = reportedUsage(text, value);
  if (reported !== text) rewrite(answer, usage, reported);
  return value || undefined;
}

function parsed(payload: Buffer, member: NonNullable<AnswerMembers['usage']>): unknown {
  try {
    return memberValue(payload, member);
  } catch {
    return 'odd';
  }
}

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;

/** Replaces line ends by spaces. JSON allows them between tokens, but they would end the data line. */
function oneLine(data: Buffer, alone: boolean): Buffer {
  if (!data.includes(CR) && (alone || !data.includes(LF))) return data;
  const copy = Buffer.from(data);
  for (let at = 0; at < copy.length; at++) if (copy[at] === CR || copy[at] === LF) copy[at] = SPACE;
  return copy;
}

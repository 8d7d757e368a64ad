import { answerTextIn } from '../../lib/upstream/answer-text.js';
import type { OutputItem } from './response-object.js';

/** The delta of a chunk, or the message of a whole answer, as the node sent it: members are unchecked. */
export interface ChatOutput {
  tool_calls?: unknown;
}

interface ToolCall {
  index?: unknown;
  id?: unknown;
  function?: { name?: unknown; arguments?: unknown } | null;
}

/** An event of the stream, without its number. */
export type OutputEvent = { type: string } & Record<string, unknown>;

/** A kind of text in the output: the part of an item that holds it, and the prefix of its events. */
interface TextKind {
  part: 'output_text' | 'refusal' | 'reasoning_text';
  /** Member of the part, and of the event that ends it. */
  member: 'text' | 'refusal';
  events: string;
}

const KINDS = {
  text: { part: 'output_text', member: 'text', events: 'response.output_text' },
  refusal: { part: 'refusal', member: 'refusal', events: 'response.refusal' },
  reasoning: { part: 'reasoning_text', member: 'text', events: 'response.reasoning_text' },
} as const satisfies Record<string, TextKind>;

/** An item that isn't complete yet. */
interface Open {
  item: OutputItem;
  /** Its index in the output. */
  place: number;
  kind: TextKind | 'call';
  text: string;
  /** The ID that the node gave a call. */
  callId?: string | undefined;
}

/**
 * Collects the model's chat output as items of a response and emits an event for each step. One text is open at a time and is
 * completed by the next item. Calls stay open until the end, since their arguments may arrive interleaved.
 */
export class OutputState {
  readonly items: OutputItem[] = [];
  #text: Open | undefined;
  /** By index among the tool calls of the chat answer. */
  readonly #calls = new Map<number, Open>();
  #named = 0;

  constructor(
    private readonly requestId: string,
    private readonly emit: (event: OutputEvent) => void,
  ) {}

  add(output: ChatOutput): void {
    const { thinking, text, refusal } = answerTextIn(output);
    if (thinking !== '') this.#addText(KINDS.reasoning, thinking);
    if (text !== '') this.#addText(KINDS.text, text);
    if (refusal !== '') this.#addText(KINDS.refusal, refusal);
    const { tool_calls: calls } = output;
    if (!Array.isArray(calls)) return;
    for (const [place, call] of (calls as (ToolCall | null)[]).entries()) if (call) this.#call(call, place);
  }

  /** Completes all open items. */
  end(): void {
    for (const call of this.#calls.values()) this.#complete(call);
    this.#calls.clear();
    this.#endText();
  }

  #endText(): void {
    if (this.#text) this.#complete(this.#text);
    this.#text = undefined;
  }

  #complete(open: Open): void {
    const { item, place, kind, text } = open;
    if (kind === 'call') {
      item.arguments = text;
      this.#emitFor(open, {
        type: 'response.function_call_arguments.done',
        name: item.name,
        arguments: text,
      });
    } else {
      const part = partOf(kind, text);
      item.content = [part];
      this.#emitFor(open, {
        type: `${kind.events}.done`,
        content_index: 0,
        [kind.member]: text,
        ...LOGPROBS[kind.part],
      });
      this.#emitFor(open, { type: 'response.content_part.done', content_index: 0, part });
    }
    item.status = 'completed';
    this.emit({ type: 'response.output_item.done', output_index: place, item });
  }

  #addText(kind: TextKind, text: string): void {
    const open = this.#text?.kind === kind ? this.#text : this.#beginText(kind);
    open.text += text;
    this.#emitFor(open, {
      type: `${kind.events}.delta`,
      content_index: 0,
      delta: text,
      ...LOGPROBS[kind.part],
    });
  }

  #beginText(kind: TextKind): Open {
    const isThought = kind === KINDS.reasoning;
    const item: OutputItem = isThought
      ? { id: this.#name('rs'), type: 'reasoning', status: 'in_progress', summary: [], content: [] }
      : { id: this.#name('msg'), type: 'message', status: 'in_progress', role: 'assistant', content: [] };
    const open = this.#start(item, kind);
    this.#text = open;
    this.#emitFor(open, { type: 'response.content_part.added', content_index: 0, part: partOf(kind, '') });
    return open;
  }

  #call({ index, id, function: named }: ToolCall, place: number): void {
    const call = typeof index === 'number' ? index : place;
    const callId = typeof id === 'string' && id !== '' ? id : undefined;
    const { name, arguments: delta } = named ?? {};
    let open = this.#calls.get(call);
    // Ollama sends index 0 for every call, so a new ID with a name begins a new call. Other nodes send a new ID with each delta.
    const isNamed = typeof name === 'string' && name !== '';
    if (isNamed && open?.callId !== undefined && callId !== undefined && open.callId !== callId) {
      this.#complete(open);
      open = undefined;
    }
    open ??= this.#beginCall(call, callId, name);
    open.callId ??= callId;
    if (typeof delta !== 'string' || delta === '') return;
    open.text += delta;
    this.#emitFor(open, { type: 'response.function_call_arguments.delta', delta });
  }

  #beginCall(call: number, callId: string | undefined, name: unknown): Open {
    const item = {
      id: this.#name('fc'),
      type: 'function_call',
      status: 'in_progress',
      call_id: callId ?? this.#name('call'),
      name: typeof name === 'string' ? name : '',
      arguments: '',
    };
    const open = this.#start(item, 'call');
    this.#calls.set(call, open);
    return open;
  }

  #start(item: OutputItem, kind: Open['kind']): Open {
    this.#endText();
    const place = this.items.push(item) - 1;
    this.emit({ type: 'response.output_item.added', output_index: place, item: { ...item } });
    return { item, place, kind, text: '' };
  }

  #emitFor({ item, place }: Open, { type, ...rest }: OutputEvent): void {
    this.emit({ type, item_id: item.id, output_index: place, ...rest });
  }

  /** Derives item IDs from the request's ID, so that none have to be stored. */
  #name(kind: string): string {
    return `${kind}_${this.requestId.replaceAll('-', '')}_${this.#named++}`;
  }
}

/** SDKs expect this list in every event with output text. */
const LOGPROBS: Partial<Record<TextKind['part'], object>> = { output_text: { logprobs: [] } };

const partOf = ({ part, member }: TextKind, text: string): Record<string, unknown> => ({
  type: part,
  [member]: text,
  ...(part === 'output_text' && { annotations: [], logprobs: [] }),
});

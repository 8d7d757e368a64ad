import type { OutputItem } from './response-object.js';

/** The delta of a chunk, or the message of a whole answer, as a node sends it: no member can be relied on. */
export interface ChatOutput {
  content?: unknown;
  refusal?: unknown;
  reasoning_content?: unknown;
  reasoning?: unknown;
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
  kind: TextKind | 'call';
  text: string;
  /** Index among the tool calls of the chat answer. */
  call?: number;
}

/**
 * Collects the model's chat output as items of a response and emits an event for each step. Only one item is open at a time:
 * starting another completes it.
 */
export class Output {
  readonly items: OutputItem[] = [];
  #open: Open | undefined;
  #named = 0;

  constructor(
    private readonly requestId: string,
    private readonly emit: (event: OutputEvent) => void,
  ) {}

  add({
    content,
    refusal,
    reasoning_content,
    reasoning = reasoning_content,
    tool_calls: calls,
  }: ChatOutput): void {
    if (typeof reasoning === 'string' && reasoning !== '') this.#text(KINDS.reasoning, reasoning);
    if (typeof content === 'string' && content !== '') this.#text(KINDS.text, content);
    if (typeof refusal === 'string' && refusal !== '') this.#text(KINDS.refusal, refusal);
    if (!Array.isArray(calls)) return;
    for (const [place, call] of (calls as (ToolCall | null)[]).entries()) if (call) this.#call(call, place);
  }

  /** Completes the open item. */
  end(): void {
    const open = this.#open;
    if (!open) return;
    this.#open = undefined;
    const { item, kind, text } = open;
    if (kind === 'call') {
      item.arguments = text;
      this.#emitFor(item, {
        type: 'response.function_call_arguments.done',
        name: item.name,
        arguments: text,
      });
    } else {
      const part = partOf(kind, text);
      item.content = [part];
      this.#emitFor(item, {
        type: `${kind.events}.done`,
        content_index: 0,
        [kind.member]: text,
        ...LOGPROBS[kind.part],
      });
      this.#emitFor(item, { type: 'response.content_part.done', content_index: 0, part });
    }
    item.status = 'completed';
    const index = this.items.length - 1;
    this.emit({ type: 'response.output_item.done', output_index: index, item });
  }

  #text(kind: TextKind, text: string): void {
    const open = this.#open?.kind === kind ? this.#open : this.#begin(kind);
    open.text += text;
    this.#emitFor(open.item, {
      type: `${kind.events}.delta`,
      content_index: 0,
      delta: text,
      ...LOGPROBS[kind.part],
    });
  }

  #begin(kind: TextKind): Open {
    const isThought = kind === KINDS.reasoning;
    const item: OutputItem = isThought
      ? { id: this.#name('rs'), type: 'reasoning', status: 'in_progress', summary: [], content: [] }
      : { id: this.#name('msg'), type: 'message', status: 'in_progress', role: 'assistant', content: [] };
    const open = this.#start({ item, kind, text: '' });
    this.#emitFor(item, { type: 'response.content_part.added', content_index: 0, part: partOf(kind, '') });
    return open;
  }

  #call({ index, id, function: named }: ToolCall, place: number): void {
    const call = typeof index === 'number' ? index : place;
    const { name, arguments: delta } = named ?? {};
    let open = this.#open;
    if (open?.kind !== 'call' || open.call !== call) {
      const item = {
        id: this.#name('fc'),
        type: 'function_call',
        status: 'in_progress',
        call_id: typeof id === 'string' && id !== '' ? id : this.#name('call'),
        name: typeof name === 'string' ? name : '',
        arguments: '',
      };
      open = this.#start({ item, kind: 'call', text: '', call });
    }
    if (typeof delta !== 'string' || delta === '') return;
    open.text += delta;
    this.#emitFor(open.item, { type: 'response.function_call_arguments.delta', delta });
  }

  #start(open: Open): Open {
    this.end();
    this.#open = open;
    this.items.push(open.item);
    const output_index = this.items.length - 1;
    this.emit({ type: 'response.output_item.added', output_index, item: { ...open.item } });
    return open;
  }

  #emitFor({ id }: OutputItem, { type, ...rest }: OutputEvent): void {
    this.emit({ type, item_id: id, output_index: this.items.length - 1, ...rest });
  }

  /** IDs of items are derived from the request's ID, so none have to be stored. */
  #name(kind: string): string {
    return `${kind}_${this.requestId.replaceAll('-', '')}_${this.#named++}`;
  }
}

/** SDKs expect this list in every event that has text. */
const LOGPROBS: Partial<Record<TextKind['part'], object>> = { output_text: { logprobs: [] } };

const partOf = ({ part, member }: TextKind, text: string): Record<string, unknown> => ({
  type: part,
  [member]: text,
  ...(part === 'output_text' && { annotations: [], logprobs: [] }),
});

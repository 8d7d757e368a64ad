import type { OutputItem } from './response-object.js';

/** What a chunk, or the message of a whole answer, brings. Whatever a node sends: nothing of it is taken for granted. */
export interface Said {
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

/** A text that is being said: part of an item, with the names of its events. */
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
  /** Of the tool calls of a chat answer. */
  call?: number;
}

/**
 * Collects what a model says in the form of chat as items of a response, one after the other, and tells each step. Only
 * one item is open: what begins another completes it.
 */
export class Output {
  readonly items: OutputItem[] = [];
  #open: Open | undefined;
  #named = 0;

  constructor(
    private readonly requestId: string,
    private readonly tell: (event: OutputEvent) => void,
  ) {}

  say({ content, refusal, reasoning_content, reasoning = reasoning_content, tool_calls: calls }: Said): void {
    if (typeof reasoning === 'string' && reasoning !== '') this.#text(KINDS.reasoning, reasoning);
    if (typeof content === 'string' && content !== '') this.#text(KINDS.text, content);
    if (typeof refusal === 'string' && refusal !== '') this.#text(KINDS.refusal, refusal);
    if (!Array.isArray(calls)) return;
    for (const [place, call] of (calls as (ToolCall | null)[]).entries()) if (call) this.#call(call, place);
  }

  /** Completes what is open. */
  end(): void {
    const open = this.#open;
    if (!open) return;
    this.#open = undefined;
    const { item, kind, text } = open;
    if (kind === 'call') {
      item.arguments = text;
      this.#tellOf(item, { type: 'response.function_call_arguments.done', name: item.name, arguments: text });
    } else {
      const part = partOf(kind, text);
      item.content = [part];
      this.#tellOf(item, {
        type: `${kind.events}.done`,
        content_index: 0,
        [kind.member]: text,
        ...LOGPROBS[kind.part],
      });
      this.#tellOf(item, { type: 'response.content_part.done', content_index: 0, part });
    }
    item.status = 'completed';
    const index = this.items.length - 1;
    this.tell({ type: 'response.output_item.done', output_index: index, item });
  }

  #text(kind: TextKind, text: string): void {
    const open = this.#open?.kind === kind ? this.#open : this.#begin(kind);
    open.text += text;
    this.#tellOf(open.item, {
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
    const open = this.#add({ item, kind, text: '' });
    this.#tellOf(item, { type: 'response.content_part.added', content_index: 0, part: partOf(kind, '') });
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
      open = this.#add({ item, kind: 'call', text: '', call });
    }
    if (typeof delta !== 'string' || delta === '') return;
    open.text += delta;
    this.#tellOf(open.item, { type: 'response.function_call_arguments.delta', delta });
  }

  #add(open: Open): Open {
    this.end();
    this.#open = open;
    this.items.push(open.item);
    const output_index = this.items.length - 1;
    this.tell({ type: 'response.output_item.added', output_index, item: { ...open.item } });
    return open;
  }

  #tellOf({ id }: OutputItem, { type, ...rest }: OutputEvent): void {
    this.tell({ type, item_id: id, output_index: this.items.length - 1, ...rest });
  }

  /** Ids of items are made from the request's: nothing has to be kept for them. */
  #name(kind: string): string {
    return `${kind}_${this.requestId.replaceAll('-', '')}_${this.#named++}`;
  }
}

/** SDKs read the list wherever text is told. */
const LOGPROBS: Partial<Record<TextKind['part'], object>> = { output_text: { logprobs: [] } };

const partOf = ({ part, member }: TextKind, text: string): Record<string, unknown> => ({
  type: part,
  [member]: text,
  ...(part === 'output_text' && { annotations: [], logprobs: [] }),
});

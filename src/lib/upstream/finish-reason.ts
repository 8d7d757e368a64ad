import { type Member, memberValue } from '../json-scan.js';
import { skipSpace } from '../json-tokens.js';

const KEY = Buffer.from('"finish_reason"');
const QUOTE = 0x22;
const COLON = 0x3a;

/**
 * Whether scanned JSON has a finish reason between two offsets. An empty text doesn't count. Generated text can't imitate it, since its
 * quotes are escaped.
 */
export function tellsFinish(json: Buffer, from: number, end: number): boolean {
  for (let at = json.indexOf(KEY, from); at >= 0 && at < end; at = json.indexOf(KEY, at + KEY.length)) {
    const colon = skipSpace(json, at + KEY.length);
    if (json[colon] !== COLON) continue;
    const value = skipSpace(json, colon + 1);
    if (json[value] === QUOTE && json[value + 1] !== QUOTE) return true;
  }
  return false;
}

/** The choices of a stream that have a finish reason. */
export class FinishedChoices {
  /** Whether at least one choice has. */
  any = false;
  /** Whether all choices have: the answer is whole, even without `[DONE]`. */
  all = false;
  readonly #indexes = new Set<unknown>();

  constructor(private readonly choices: number) {}

  /** Notes the choices of a chunk with a finish reason. */
  note(json: Buffer, choices: Member): void {
    this.any = true;
    if (this.choices > 1) this.#noteIndexes(json, choices);
    this.all = this.choices === 1 || this.#indexes.size >= this.choices;
  }

  #noteIndexes(json: Buffer, choices: Member): void {
    let list: unknown;
    try {
      list = memberValue(json, choices);
    } catch {
      return;
    }
    if (!Array.isArray(list)) return;
    for (const choice of list) {
      const { index = 0, finish_reason: reason } = (choice ?? {}) as Record<string, unknown>;
      if (typeof reason === 'string' && reason !== '') this.#indexes.add(index);
    }
  }
}

import { inspect } from 'node:util';

const SHOWN = '[secret]';

/** What the operator keeps to himself: the address, key and own model name of a node. No log, dump or error shows it. */
export class Secret<T> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  read(): T {
    return this.#value;
  }

  toJSON(): string {
    return SHOWN;
  }

  toString(): string {
    return SHOWN;
  }

  [inspect.custom](): string {
    return SHOWN;
  }
}

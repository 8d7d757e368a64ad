import { inspect } from 'node:util';

const SHOWN = '[secret]';

/** Holds a value that only the operator may see, such as a node's address, key and model name. No log, dump or error shows it. */
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

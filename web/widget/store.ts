import type { Saved } from './protocol';

interface Kept {
  saved: Saved;
  /** Whether the chat was open when the page was left. */
  open: boolean;
}

/** State that is kept across pages, in the session storage of the site. */
export class Store {
  readonly #name: string;

  constructor(key: string) {
    this.#name = `pr-widget:${key}`;
  }

  read(): Kept {
    const nothing = { open: false, saved: { turns: [] } };
    try {
      return { ...nothing, ...(JSON.parse(sessionStorage.getItem(this.#name) ?? '{}') as Partial<Kept>) };
    } catch {
      return nothing;
    }
  }

  write(change: Partial<Kept>): void {
    try {
      sessionStorage.setItem(this.#name, JSON.stringify({ ...this.read(), ...change }));
    } catch {
      // Storage is unavailable or full: the conversation ends with the page.
    }
  }
}

import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../lib/clock.js';

const MAX_NAMES = 50_000;
const WINDOW_MS = 10 * 60_000;
/** The longest run of messages that counts as one turn of a loop, and how often it comes before it is one. */
const LONGEST_CYCLE = 4;
const TURNS = 5;
/** Somebody may answer "yes" to one question after the other. */
const TURNS_OF_SHORT = 10;
const SHORT_CHARACTERS = 12;
const KEPT = LONGEST_CYCLE * TURNS_OF_SHORT;
/** The same text from one address, in any number of sessions: people behind one router may all begin with "Hello". */
const SAME_FROM_ADDRESS = 20;
const KEPT_OF_ADDRESS = 400;
const DIGEST_BYTES = 12;
const SHORT = 'short ';

/** The names of a visitor's session and address. */
type Names = readonly [session: string, address: string];

/** What is compared of a text: letters and digits. A text without any is compared as it is. */
function digestOf(text: string): string {
  const plain = text.toLowerCase().replace(NO_WORD, ' ').trim();
  const digest = createHash('sha256')
    .update(plain === '' ? text : plain)
    .digest()
    .subarray(0, DIGEST_BYTES)
    .toString('base64');
  return plain.length < SHORT_CHARACTERS ? SHORT + digest : digest;
}

const NO_WORD = /[^\p{L}\p{N}]+/gu;

/** Whether a list ends with the same one to four entries, again and again. */
function endsInLoop(digests: readonly string[]): boolean {
  for (let cycle = 1; cycle <= LONGEST_CYCLE; cycle++) {
    const isShort = digests.slice(-cycle).every((digest) => digest.startsWith(SHORT));
    const length = cycle * (isShort ? TURNS_OF_SHORT : TURNS);
    if (digests.length < length) continue;
    const tail = digests.slice(-length);
    if (tail.every((digest, index) => digest === tail[index % cycle])) return true;
  }
  return false;
}

interface Said {
  digest: string;
  at: number;
}

/**
 * Notices scripts and bots that talk in circles: the same one to four messages five times in a row in a session (ten times if
 * they are short), or the same message twenty times from one address, within ten minutes. Keeps digests only, in this
 * process.
 */
export class Loops {
  /** Made for the first message, as in visitor-counts.ts. */
  #said: LRUCache<string, Said[]> | undefined;

  constructor(private readonly clock: Clock) {}

  /** Whether the last of the user's messages closes a loop. Without `hasSession` the session of `names` is new. */
  isLoop(names: Names, texts: readonly string[], hasSession: boolean): boolean {
    const digests = texts.slice(-KEPT).map(digestOf);
    const last = digests.at(-1)!;
    const [session, address] = names;
    if (endsInLoop(digests)) return true;
    if (hasSession && endsInLoop([...this.#recent(session).map(({ digest }) => digest), last])) return true;
    const same = this.#recent(address).filter(({ digest }) => digest === last).length;
    return same + 1 >= SAME_FROM_ADDRESS;
  }

  /** Notes a message that was answered. */
  note(names: Names, text: string): void {
    const said = { digest: digestOf(text), at: this.clock.now() };
    this.#said ??= new LRUCache({ max: MAX_NAMES, ttl: WINDOW_MS });
    for (const name of names) {
      this.#said.set(name, [...this.#recent(name), said].slice(-KEPT_OF_ADDRESS));
    }
  }

  #recent(name: string): Said[] {
    const since = this.clock.now() - WINDOW_MS;
    return (this.#said?.get(name) ?? []).filter(({ at }) => at > since);
  }
}

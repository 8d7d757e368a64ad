import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../lib/clock.js';

const MAX_NAMES = 50_000;
const WINDOW_MS = 10 * 60_000;
/** Most messages that repeat as one cycle. */
const LONGEST_CYCLE = 4;
/** Repetitions of a cycle that make a loop. */
const TURNS = 5;
/** The same for short messages, since somebody may answer "yes" to several questions in a row. */
const TURNS_OF_SHORT = 10;
const SHORT_CHARACTERS = 12;
const KEPT = LONGEST_CYCLE * TURNS_OF_SHORT;
/** Equal messages from one address, in any number of sessions. People behind one router may all begin with "Hello". */
const SAME_FROM_ADDRESS = 20;
const KEPT_OF_ADDRESS = 400;
const DIGEST_BYTES = 12;
const SHORT = 'short ';

/** The names of a visitor's session and address. */
type Names = readonly [session: string, address: string];

/** A digest of a text's letters and digits, or of the whole text if it has none. */
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

/** Whether a list ends with a cycle of one to four entries that repeats often enough. */
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

interface Sent {
  digest: string;
  at: number;
}

/**
 * Detects scripts and bots that repeat themselves: the same one to four messages five times in a row in a session (ten times if
 * they are short), or the same message twenty times from one address, within ten minutes. Keeps only digests, in this process.
 */
export class Loops {
  /** Messages by session and by address. Created with the first message, as in visitor-counts.ts. */
  #recentByName: LRUCache<string, Sent[]> | undefined;

  constructor(private readonly clock: Clock) {}

  /** Whether the user's last message closes a loop. `hasSession`: whether the session of `names` existed before. */
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
    const sent = { digest: digestOf(text), at: this.clock.now() };
    this.#recentByName ??= new LRUCache({ max: MAX_NAMES, ttl: WINDOW_MS });
    for (const name of names) {
      this.#recentByName.set(name, [...this.#recent(name), sent].slice(-KEPT_OF_ADDRESS));
    }
  }

  #recent(name: string): Sent[] {
    const since = this.clock.now() - WINDOW_MS;
    return (this.#recentByName?.get(name) ?? []).filter(({ at }) => at > since);
  }
}

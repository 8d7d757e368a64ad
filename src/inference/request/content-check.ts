import { AppError } from '../../errors.js';
import type { Member } from '../../lib/json-scan.js';
import { readKey, skipSpace } from '../../lib/json-tokens.js';
import { printableName } from './body-fields.js';
import * as names from './content-names.js';
import { type JsonLevel, type JsonVisitor, visitStrings } from './json-strings.js';
import { faultOfAddress, isLikeAddress, type MediaRules } from './media-addresses.js';

/** Media in a body, in addition to its texts. */
export interface Media {
  images: number;
  /** Images in `input`, where each element has a separate context. */
  batchImages: number;
  /** Whether there are media that can take up any number of tokens. */
  unbounded: boolean;
}

/** Members in which a node may look for media. */
const WITH_MEDIA = new Set(['messages', 'input']);

const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const LOWER_N = 0x6e;

/**
 * Counts the media of a body that is valid JSON. Refuses addresses in private networks, parts of unknown types, and names of
 * media that a node has cached from other calls.
 * @throws AppError `invalid_body`
 */
export function checkContent(body: Buffer, members: readonly Member[], rules: MediaRules): Media {
  const media: Media = { images: 0, batchImages: 0, unbounded: false };
  for (const { key, valueStart } of members) {
    if (!WITH_MEDIA.has(key)) continue;
    if (body[valueStart] !== OPEN_BRACKET && body[valueStart] !== OPEN_BRACE) continue;
    const reader = new ContentReader(body, key, rules);
    visitStrings(body, valueStart, reader);
    media.unbounded ||= reader.unbounded;
    if (key === 'input') media.batchImages += reader.images;
    else media.images += reader.images;
  }
  return media;
}

const LONGEST_TYPE = 64;
/** Types that most models support, for a message. All types are in content-names.ts. */
const SUPPORTED = '"text", "image_url", "input_audio", "video_url" or "file"';

/** A part of a message that is being read. */
interface Part {
  /** Offset of the opening bracket. */
  start: number;
  type: string | undefined;
  /** Number of members that hold an image. */
  images: number;
  /** Whether the type was counted as an image and the member with the image is still to come. */
  expected: boolean;
  /** Names of members for media that are null. */
  empty: Set<string>;
}

/** Reading an address takes microseconds, and no context holds this many images. */
const MOST_ADDRESSES = 2_048;
const MOST_SHOWN = MOST_ADDRESSES.toLocaleString('en-US');

class ContentReader implements JsonVisitor {
  images = 0;
  unbounded = false;
  #part: Part | undefined;
  #addresses = 0;

  constructor(
    private readonly body: Buffer,
    private readonly member: string,
    private readonly rules: MediaRules,
  ) {}

  key(levels: readonly JsonLevel[]): void {
    const level = levels.at(-1)!;
    const meaning = names.meaningAt(this.body, level.keyStart, level.keyEnd);
    level.state = meaning | (level.outer & names.INHERITED);
    if (meaning === 0 || (level.state & names.OUTPUT) !== 0) return;
    if ((meaning & names.CACHE_NAME) !== 0 && (level.outer & names.IN_CONTENT) !== 0) {
      throw this.#invalid(levels, 'is not supported');
    }
    if ((meaning & (names.IMAGE | names.UNBOUNDED)) === 0) return;
    if (isNull(this.body, level)) this.#noteEmpty(levels);
    else this.#count(meaning, level);
  }

  string(levels: readonly JsonLevel[], start: number, end: number): void {
    const { outer, state } = levels.at(-1)!;
    if ((state & names.OUTPUT) !== 0) return;
    if ((state & names.TYPE) !== 0) {
      if ((outer & names.CONTENT) !== 0) this.#ofType(levels, start, end);
      return;
    }
    if (!this.#isAddress(state, start, end)) return;
    if (++this.#addresses > MOST_ADDRESSES)
      throw this.#invalid(levels, `is one too many: a request may have ${MOST_SHOWN} addresses of media`);
    const reason = faultOfAddress(this.body, start, end, this.rules);
    if (reason !== undefined) throw this.#invalid(levels, reason);
  }

  #isAddress(state: number, start: number, end: number): boolean {
    if ((state & names.ADDRESS) !== 0) return true;
    if ((state & names.MAYBE_ADDRESS) === 0) return false;
    return isLikeAddress(this.body, start, end, (state & names.DATA) !== 0);
  }

  #ofType(levels: readonly JsonLevel[], start: number, end: number): void {
    const type = end - start <= LONGEST_TYPE ? readKey(this.body, start, end) : '';
    const kind = names.partKind(type);
    if (kind === undefined)
      throw this.#invalid(levels, `must be ${SUPPORTED}${type && `, not "${printableName(type)}"`}`);
    const part = this.#enter(levels.at(-1)!);
    if (part.empty.has(type)) throw this.#missing(levels, type);
    part.type = type;
    if (kind === names.UNBOUNDED) this.unbounded = true;
    else if (kind === names.IMAGE && part.images === 0) {
      this.images++;
      part.expected = true;
    }
  }

  #count(meaning: number, level: JsonLevel): void {
    if ((meaning & names.UNBOUNDED) !== 0) this.unbounded = true;
    if ((meaning & names.IMAGE) === 0) return;
    if ((level.outer & names.CONTENT) !== 0) {
      const part = this.#enter(level);
      part.images++;
      if (part.expected) {
        part.expected = false;
        return;
      }
    }
    this.images++;
  }

  /** Handles a member for media that is null. */
  #noteEmpty(levels: readonly JsonLevel[]): void {
    const level = levels.at(-1)!;
    if ((level.outer & names.CONTENT) === 0) return;
    const name = readKey(this.body, level.keyStart, level.keyEnd);
    const part = this.#enter(level);
    if (part.type === name) throw this.#missing(levels, name);
    part.empty.add(name);
  }

  #enter({ start }: JsonLevel): Part {
    if (this.#part?.start !== start) {
      this.#part = { start, type: undefined, images: 0, expected: false, empty: new Set() };
    }
    return this.#part!;
  }

  #missing(levels: readonly JsonLevel[], name: string): AppError {
    const param = `${this.member}${pathOf(this.body, levels.slice(0, -1))}.${printableName(name)}`;
    return new AppError('invalid_body', { message: `"${param}" must not be null.`, param });
  }

  #invalid(levels: readonly JsonLevel[], reason: string): AppError {
    const param = this.member + pathOf(this.body, levels);
    return new AppError('invalid_body', { message: `"${param}" ${reason}.`, param });
  }
}

function isNull(body: Buffer, { keyEnd }: JsonLevel): boolean {
  return body[skipSpace(body, skipSpace(body, keyEnd) + 1)] === LOWER_N;
}

/** The name of the member at which an object's level is; undefined if it is too long. */
const keyOf = (body: Buffer, { keyStart, keyEnd }: JsonLevel): string | undefined =>
  keyEnd - keyStart > names.LONGEST_KEY ? undefined : readKey(body, keyStart, keyEnd);

/** The path of a value, such as `[0].content`. */
const pathOf = (body: Buffer, levels: readonly JsonLevel[]): string =>
  levels
    .map((level) => (level.isObject ? `.${printableName(keyOf(body, level) ?? '')}` : `[${level.index}]`))
    .join('');

import type { Reading } from './readers.js';

/** An answer's text, taken apart by what ends its lines and nothing else. */
export interface Parts {
  /** Heads of informational answers that came first. */
  early: string;
  /** The status line. */
  first: string;
  /** The other lines of the head. */
  fields: readonly string[];
  /** What is behind the head. */
  rest: string;
}

const EARLY = /^HTTP\/1\.[01] 1(?!01)\d\d[^\r\n]*\r\n/;
const HEAD_END = '\r\n\r\n';

/** Every head of an answer: those of informational answers, and that of the one that counts. */
export function partsOf(text: string): Parts[] {
  let early = '';
  let left = text;
  const all: Parts[] = [];
  for (;;) {
    // An empty line before the status line is no end of the head.
    const from = /^[\r\n]*/.exec(left)![0].length;
    const end = left.indexOf(HEAD_END, from);
    const head = end < 0 ? left : left.slice(0, end);
    const [first, ...fields] = head.slice(from).split('\r\n');
    const rest = end < 0 ? '' : left.slice(end + HEAD_END.length);
    const isEarly = end >= 0 && EARLY.test(left);
    all.push({ early, first: left.slice(0, from) + first!, fields, rest: isEarly ? '' : rest });
    if (!isEarly) return all;
    early += left.slice(0, end + HEAD_END.length);
    left = rest;
  }
}

/** Values of the fields of a name, with what is around them. */
const valuesOf = ({ fields }: Parts, name: string): string[] =>
  fields
    .filter((line) => line.toLowerCase().startsWith(`${name}:`))
    .map((line) => line.slice(name.length + 1));

const SIZE_LINE = /^([\da-f]+)([^\r\n]*)\r\n/i;

/** Lines of the chunked coding, as far as it can be followed, and what is behind its end. */
function chunksOf({ rest }: Parts): {
  sizes: string[];
  extensions: string[];
  trailers: string[];
  behind: string;
} {
  const sizes: string[] = [];
  const extensions: string[] = [];
  for (let left = rest; ; ) {
    const line = SIZE_LINE.exec(left);
    const size = Number.parseInt(line?.[1] ?? /^[\da-f]*/i.exec(left)![0], 16);
    sizes.push(line?.[1] ?? /^[\da-f]*/i.exec(left)![0]);
    extensions.push(line?.[2] ?? '');
    if (!line) return { sizes, extensions, trailers: [], behind: '' };
    left = left.slice(line[0].length);
    if (size > 0) {
      left = left.slice(size + 2);
      continue;
    }
    const end = left.startsWith('\r\n') ? 0 : left.indexOf(HEAD_END) + 2;
    const trailers = left.slice(0, end).split('\r\n').slice(0, -1);
    return { sizes, extensions, trailers, behind: end === 1 ? '' : left.slice(end + 2) };
  }
}

const isBodiless = ({ first }: Parts): boolean => /^\S+ (?:1|204|304)/.test(first);
const isChunked = (parts: Parts): boolean => valuesOf(parts, 'transfer-encoding').length > 0;
const readsChunks = (parts: Parts): boolean => isChunked(parts) && !isBodiless(parts);

function bytesBehind(parts: Parts): string {
  if (isBodiless(parts)) return parts.rest;
  if (isChunked(parts)) return chunksOf(parts).behind;
  const [length] = valuesOf(parts, 'content-length');
  return length === undefined ? '' : parts.rest.slice(Number(length));
}

/** A way in which our client reads otherwise than Node's or undici's, and why that is right. */
export interface Difference {
  what: string;
  why: string;
  /** Whether an answer is of this kind. */
  of(parts: Parts): boolean;
}

const saysClose = (parts: Parts): boolean =>
  [...valuesOf(parts, 'connection'), ...valuesOf(parts, 'proxy-connection')].some((value) =>
    /close/i.test(value),
  );
/** A second is how long before the server's time all three close a connection. */
const restsNoTime = (parts: Parts): boolean =>
  valuesOf(parts, 'keep-alive').some((value) => /timeout=0*[01](?!\d)/i.test(value));

/** What HTTP calls a token; and a size's extensions, each a name with or without a value. */
const TOKEN = "[!#$%&'*+.^_`|~\\w-]+";
const EXTENSIONS = new RegExp(`^(?:;${TOKEN}(?:=(?:${TOKEN}|"(?:[^"\\\\]|\\\\.)*"))?)*$`);
const TRAILER = new RegExp(`^${TOKEN}:[\\t\\x20-\\x7e\\x80-\\xff]*$`);

/** We refuse what others take. */
export const REFUSED: readonly Difference[] = [
  {
    what: 'an empty line before the status line',
    why: 'It is the rest of another answer, or of none that was asked for.',
    of: ({ first }) => /^[\r\n]/.test(first),
  },
  {
    what: 'a protocol or version other than HTTP/1.0 and 1.1',
    why: 'llhttp takes RTSP, ICE, HTTP/0.9 and 2.0, whose bodies end in other ways.',
    of: ({ first }) => !/^[\r\n]*HTTP\/1\.[01] /.test(first),
  },
  {
    what: 'a status below 100 or above 599',
    why: 'Nobody says what its body is.',
    of: ({ first }) => /^\S+ (?:0|[6-9])\d\d/.test(first),
  },
  {
    what: 'a switch of protocols',
    why: 'Nobody asked for it; Node takes it for an answer where no Upgrade stands beside it.',
    of: ({ first }) => /^\S+ 101/.test(first),
  },
  {
    what: 'a control character behind the status',
    why: 'RFC 9112 4 has none there; other readers end the line at it.',
    of: ({ first }) => /^[\r\n]*\S+ \d{3}.*[^\t\x20-\x7e\x80-\xff]/s.test(first),
  },
  {
    what: 'a coding other than chunked alone, or a blank behind it',
    why: 'None was asked for. To llhttp "chunked" and a tab is unknown, so that the body goes on to the end of the connection.',
    of: (parts) => valuesOf(parts, 'transfer-encoding').some((value) => !/^[\t ]*chunked$/i.test(value)),
  },
  {
    what: 'two codings',
    why: 'The same one twice as well: RFC 9112 6.1 forbids it, and some readers take the coding off twice.',
    of: (parts) => valuesOf(parts, 'transfer-encoding').length > 1,
  },
  {
    what: 'chunks in HTTP/1.0',
    why: 'RFC 9112 6.1: a reader of that version knows no chunks.',
    of: (parts) => parts.first.startsWith('HTTP/1.0') && isChunked(parts),
  },
  {
    what: 'a length with a blank behind it',
    why: 'undici counts the blank as a digit.',
    of: (parts) => valuesOf(parts, 'content-length').some((value) => /\d[\t ]+$/.test(value)),
  },
  {
    what: 'a length of more than 15 digits',
    why: 'A double holds it no more to the byte.',
    of: (parts) => valuesOf(parts, 'content-length').some((value) => /\d{16}/.test(value)),
  },
  {
    what: 'an informational answer that ends the connection',
    why: 'What follows can not be meant. llhttp refuses it where it is said by Connection, undici closes where it is said by Keep-Alive.',
    of: (parts) =>
      /^\S+ 1/.test(parts.first) &&
      (parts.first.startsWith('HTTP/1.0') || saysClose(parts) || restsNoTime(parts)),
  },
  {
    what: 'a size of more than eight digits',
    why: 'Zeros in front of it are of no use, and nothing is that large.',
    of: (parts) => readsChunks(parts) && chunksOf(parts).sizes.some((size) => size.length > 8),
  },
  {
    what: 'an extension that is no name, or no name with a value',
    why: 'RFC 9112 7.1.1: readers disagree where a line of another form ends.',
    of: (parts) => readsChunks(parts) && chunksOf(parts).extensions.some((text) => !EXTENSIONS.test(text)),
  },
  {
    what: 'a trailer that is no field',
    why: 'The same as in a head: folded lines, blanks before a colon.',
    of: (parts) => readsChunks(parts) && chunksOf(parts).trailers.some((line) => !TRAILER.test(line)),
  },
  {
    what: 'a length or a coding among the trailers',
    why: 'RFC 9112 7.1.2 and 9110 6.5.1: it can tell nothing there.',
    of: (parts) =>
      readsChunks(parts) &&
      chunksOf(parts).trailers.some((line) => /^(?:content-length|transfer-encoding):/i.test(line)),
  },
];

/** We keep a connection for no other call though others do. */
export const CLOSED: readonly Difference[] = [
  {
    what: 'HTTP/1.0, whatever it says of the connection',
    why: 'Proxies of that version pass keep-alive on without understanding it (RFC 9112 C.2.2).',
    of: ({ first }) => first.startsWith('HTTP/1.0'),
  },
  {
    what: 'bytes behind the answer',
    why: 'They would be the next call’s answer. Node drops them unread when they come later, llhttp skips line ends.',
    of: (parts) => bytesBehind(parts) !== '',
  },
  {
    what: 'any word with "close" in it',
    why: 'A connection too many costs nothing; undici overlooks it before a tab.',
    of: saysClose,
  },
  {
    what: 'a time to rest of a second or less, wherever it stands',
    why: 'Node reads it at the beginning only, and in small letters.',
    of: restsNoTime,
  },
  {
    what: 'a 204 or 304 that tells of a body',
    why: 'Who tells of it may send it. undici does the same.',
    of: (parts) =>
      isBodiless(parts) &&
      (isChunked(parts) || valuesOf(parts, 'content-length').some((value) => Number(value) > 0)),
  },
];

/** We take what others refuse. */
export const TAKEN: readonly Difference[] = [
  {
    what: '100 Continue',
    why: 'RFC 9110 15.2: a client takes informational answers that it did not ask for. undici refuses this one.',
    of: ({ early }) => /^HTTP\/1\.1 100/m.test(early),
  },
];

const isOne = (list: readonly Difference[], parts: Parts): boolean =>
  list.some((difference) => difference.of(parts));

/** What our reading differs in from another one without a reason; undefined: nothing. */
export function unexplained(text: string, ours: Reading, other: Reading): string | undefined {
  const all = partsOf(text);
  const last = all.at(-1)!;
  const isRefused = all.some((parts) => isOne(REFUSED, parts));
  if (!ours.accepted) return !other.accepted || isRefused ? undefined : 'refused by us alone';
  if (isRefused) return 'taken though it is to be refused';
  if (!other.accepted) return isOne(TAKEN, last) ? undefined : 'taken by us alone';
  if (ours.body !== other.body) return 'another body';
  if (ours.reused && !other.reused) return 'the connection is kept by us alone';
  return ours.reused === other.reused || isOne(CLOSED, last)
    ? undefined
    : 'the connection is closed by us alone';
}

/** The differences of an answer that can be seen in two readings. */
export function explained(text: string, ours: Reading, other: Reading): Difference[] {
  if (ours.accepted === other.accepted && ours.reused === other.reused) return [];
  const lists = ours.accepted ? [...CLOSED, ...TAKEN] : REFUSED;
  return lists.filter(({ of }) => partsOf(text).some(of));
}

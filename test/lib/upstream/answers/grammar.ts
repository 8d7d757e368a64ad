import type { Random } from '../../../hostile/fuzz/random.js';

/** Something that an answer may be made of, and how often. */
type Choice<T> = readonly [weight: number, value: T];

function choose<T>(random: Random, choices: readonly Choice<T>[]): T {
  let at = random.below(choices.reduce((sum, [weight]) => sum + weight, 0));
  for (const [weight, value] of choices) {
    at -= weight;
    if (at < 0) return value;
  }
  throw new Error('no choice');
}

const VERSIONS: readonly Choice<string>[] = [
  [80, 'HTTP/1.1'],
  [12, 'HTTP/1.0'],
  ...[
    'HTTP/1.2',
    'HTTP/2.0',
    'HTTP/0.9',
    'http/1.1',
    'HTTP/1.10',
    'HTTP/1',
    'HTTP/11',
    'ICY',
    'RTSP/1.0',
    ' HTTP/1.1',
    '\r\nHTTP/1.1',
    '\nHTTP/1.1',
    '',
  ].map((version): Choice<string> => [1, version]),
];
const STATUSES: readonly Choice<string>[] = [
  [70, '200'],
  ...['201', '204', '205', '206', '304', '400', '404', '429', '500', '503', '599'].map(
    (status): Choice<string> => [3, status],
  ),
  ...[
    '100',
    '101',
    '102',
    '103',
    '199',
    '600',
    '999',
    '099',
    '000',
    '20',
    '2000',
    '2O0',
    '+200',
    '-200',
    '0x8',
  ].map((status): Choice<string> => [1, status]),
];
const REASONS: readonly Choice<string>[] = [
  [60, ' OK'],
  [10, ''],
  [5, ' '],
  ...[
    '  two  words ',
    ' \xfcbel',
    ' a\tb',
    ' \0',
    ' \x7f',
    ' a\x01b',
    ' a\rb',
    ' a\nb',
    'OK',
    '\tOK',
    ' HTTP/1.1 200 OK',
  ].map((reason): Choice<string> => [1, reason]),
];
const LINE_ENDS: readonly Choice<string>[] = [
  [400, '\r\n'],
  ...['\n', '\r', '\r\r\n', '\n\r', ' \r\n', '\t\r\n', '\0\r\n', ' \n', 'x\n', '\r\0', '\r '].map(
    (end): Choice<string> => [1, end],
  ),
];
const COLONS: readonly Choice<string>[] = [
  [150, ': '],
  [20, ':'],
  [10, ':  '],
  [5, ':\t'],
  ...[' : ', '\t:', '::', '', ': \r\n ', ':\r\n\t', ':\r\n'].map((colon): Choice<string> => [1, colon]),
];
const LENGTH_NAMES = ['Content-Length', 'content-length', 'CONTENT-LENGTH', 'Content-length'];
const ODD_LENGTHS = [
  '+$',
  '-$',
  '0x$',
  '$ ',
  ' $',
  '$, $',
  '$,$',
  '00$',
  '',
  '$;',
  '"$"',
  '$.0',
  '$e0',
  '1_0',
  '\xa0$',
  '$\xa0',
  '$ $',
  '-0',
  '9'.repeat(15),
  '9'.repeat(16),
  '9'.repeat(20),
  '18446744073709551615',
  '18446744073709551616',
  '4294967296',
  '$\t',
];
const CODINGS: readonly Choice<string>[] = [
  [120, 'chunked'],
  [20, 'Chunked'],
  ...[
    'CHUNKED',
    'gzip, chunked',
    'chunked, gzip',
    'chunked, chunked',
    'chunked,chunked',
    'identity',
    'gzip',
    'xchunked',
    'chunkedx',
    'chunked;q=1',
    '"chunked"',
    ' chunked ',
    'chunked\t',
    '\tchunked',
    'chunked,',
    ',chunked',
    ', chunked',
    'chun ked',
    '',
    'chunked\xa0',
    '\xa0chunked',
    'identity, chunked',
    'chunked identity',
    'trailers, chunked',
    '\x0bchunked',
  ].map((coding): Choice<string> => [2, coding]),
];
const CONNECTIONS = [
  'keep-alive',
  'Keep-Alive',
  'close',
  'Close',
  'CLOSE',
  'close, keep-alive',
  'keep-alive, close',
  'x, close',
  'x,close,y',
  'xclose',
  'close-x',
  'closed',
  'not close',
  'upgrade',
  'keep-alive, upgrade',
  '',
  ' close ',
  'close\t',
  '"close"',
  'clo se',
  'close;q=0',
  'keep-alive,',
  ',close',
];
const HINTS = [
  'timeout=5',
  'timeout=0',
  'timeout=1',
  'timeout=2',
  'timeout=5, max=100',
  'max=100, timeout=5',
  'max=0',
  'timeout=',
  'timeout=x',
  'timeout = 5',
  'Timeout=5',
  'timeout="5"',
  'timeout=5;max=2',
  'xtimeout=5',
  'timeout=999999',
];
const OTHERS = [
  'Date: now',
  'x-request-id: a',
  'Content-Type: application/json',
  'X-\xe9: y',
  'x: \xe9\xff',
  'x: a\tb',
  'x:',
  'x: ',
  'a b: c',
  ': y',
  'no colon',
  'x: a\0b',
  'x: a\x01b',
  'x: a\x7fb',
  'x: a\rb',
  'x: a\nb',
  'x: a\r\n b',
  'x: a\r\n\tb',
  '\tx: y',
  ' x: y',
  'x@y: z',
  'x[: z',
  'x"y: z',
  'x/y: z',
  '{}: z',
  "!#$%&'*+-.^_`|~: z",
  'Upgrade: h2c',
  'Upgrade: websocket',
  'Trailer: x',
  'TE: trailers',
  'Content-Encoding: gzip',
  'Proxy-Connection: close',
  'Proxy-Connection: keep-alive',
  'Content-Lengt: 3',
  'Content-Length-X: 3',
  'Transfer-Encodin: chunked',
  'Set-Cookie: a=b',
  '\xa0Content-Length: 1',
  'Content_Length: 1',
  `x: ${'y'.repeat(200)}`,
];
const SIZE_FORMS: readonly Choice<string>[] = [
  [150, '$'],
  [10, '0$'],
  [5, '000$'],
  ...[
    '0000000000$',
    '$ ',
    ' $',
    '$\t',
    '\t$',
    '0x$',
    '+$',
    '-$',
    '$g',
    '',
    '$.',
    '$_',
    '\xa0$',
    '$\0',
    'fffffff$',
    '1fffffff$',
    'ffffffff$',
    '10000000$',
    '10000000000000000$',
    '00000000000000000$',
    '$\r',
    '$\n',
  ].map((form): Choice<string> => [1, form]),
];
const EXTENSIONS: readonly Choice<string>[] = [
  [150, ''],
  ...[
    ';a',
    ';a=b',
    ';a="b c"',
    '; a',
    ';',
    ';;',
    ';a=b;c=d',
    ' ;a',
    ';a=',
    ';a="\\""',
    ';a="',
    ';a\tb',
    ';a b',
    ';\xe9',
    ';a=\xe9',
    ';a\x01',
    ';a\0',
    ';a\x7f',
    ';a\nb',
    ';a\rb',
    ';"a"',
    ';a="b\nc"',
    ';a="b"c',
    ';=b',
    ';[',
    ';a=[',
    ' a',
  ].map((extension): Choice<string> => [1, extension]),
];
const TRAILERS: readonly Choice<string>[] = [
  [100, ''],
  ...[
    'x: y\r\n',
    'x: y\r\nz: w\r\n',
    'x:y\r\n',
    'no colon\r\n',
    ' x: y\r\n',
    'x : y\r\n',
    'x: y\n',
    'x: a\r\n b\r\n',
    'x: \0\r\n',
    'x: \xe9\r\n',
    'Content-Length: 5\r\n',
    'Transfer-Encoding: chunked\r\n',
    'Connection: close\r\n',
    'x\x01: y\r\n',
    ': y\r\n',
    'x: y\r\r\n',
    'a b: c\r\n',
    'Transfer-Encoding: gzip\r\n',
    'Content-Length: x\r\n',
    'Connection: keep-alive\r\n',
    'Keep-Alive: timeout=0\r\n',
    'Upgrade: x\r\n',
  ].map((trailer): Choice<string> => [2, trailer]),
];
const BEHIND: readonly Choice<string>[] = [
  [100, ''],
  ...[
    'x',
    '\r\n',
    '\n',
    '\0',
    'HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nz',
    'HTTP/1.1 200',
    '0\r\n\r\n',
    '\r\n\r\n',
    ' ',
    'HTTP/1.1 100 Continue\r\n\r\n',
    '\r',
  ].map((text): Choice<string> => [2, text]),
];
const BEFORE: readonly Choice<string>[] = [
  [100, ''],
  ...[
    'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n',
    'HTTP/1.1 102 Processing\r\n\r\n',
    'HTTP/1.1 100 Continue\r\n\r\n',
    'HTTP/1.1 103 E\r\ncontent-length: 3\r\n\r\n',
    'HTTP/1.1 103 E\r\nconnection: close\r\n\r\n',
    'HTTP/1.1 103 E\r\ntransfer-encoding: chunked\r\n\r\n',
    'HTTP/1.0 103 E\r\n\r\n',
    'HTTP/1.1 103 E\n\n',
    'HTTP/1.1 199 E\r\nx: y\r\n\r\nHTTP/1.1 102 E\r\n\r\n',
    'HTTP/1.1 103 E\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
    'HTTP/1.1 103 E\r\nkeep-alive: timeout=0\r\n\r\n',
  ].map((text): Choice<string> => [1, text]),
];
const DATA = [
  '',
  'a',
  'ok',
  'hello',
  '{"a":1}',
  '0\r\n\r\n',
  '\r\n',
  'HTTP/1.1 200 OK\r\n\r\n',
  'x'.repeat(17),
  'y'.repeat(300),
  '\0\xff',
];

/** A server's answer, in the pieces that it arrives in. */
export function anyAnswer(random: Random): Buffer[] {
  let text = choose(random, BEFORE) + statusLine(random);
  const { fields, body } = framed(random);
  for (const field of shuffled(random, [...fields, ...others(random)]))
    text += field + choose(random, LINE_ENDS);
  text += choose(random, LINE_ENDS) + body + choose(random, BEHIND);
  if (random.chance(0.04)) text = text.slice(0, random.below(text.length));
  if (random.chance(0.03)) text = flipped(random, text);
  return cut(random, Buffer.from(text, 'latin1'));
}

const statusLine = (random: Random): string =>
  `${choose(random, VERSIONS)} ${choose(random, STATUSES)}${choose(random, REASONS)}${choose(random, LINE_ENDS)}`;

/** How the end of the body is told, rightly or wrongly, and the body. */
function framed(random: Random): { fields: string[]; body: string } {
  const data = Array.from({ length: 1 + random.below(3) }, () => random.pick(DATA));
  const plain = data.join('');
  const fields: string[] = [];
  const kind = random.below(100);
  const isChunked = kind < 45;
  if (isChunked || kind >= 95)
    fields.push(`Transfer-Encoding${choose(random, COLONS)}${choose(random, CODINGS)}`);
  if ((kind >= 45 && kind < 85) || kind >= 97) fields.push(lengthField(random, plain.length));
  if (random.chance(0.02)) fields.push(lengthField(random, plain.length));
  if (random.chance(0.02)) fields.push(lengthField(random, plain.length + 1));
  if (random.chance(0.01)) fields.push(`Transfer-Encoding: ${choose(random, CODINGS)}`);
  return { fields, body: isChunked ? chunked(random, data) : plain };
}

function lengthField(random: Random, length: number): string {
  const form = random.chance(0.15) ? random.pick(ODD_LENGTHS) : '$';
  const told = random.chance(0.1) ? length + random.pick([-2, -1, 1, 2]) : length;
  return `${random.pick(LENGTH_NAMES)}${choose(random, COLONS)}${form.replaceAll('$', String(told))}`;
}

function chunked(random: Random, data: readonly string[]): string {
  const line = (size: number): string => {
    const hex = random.chance(0.5) ? size.toString(16) : size.toString(16).toUpperCase();
    return (
      choose(random, SIZE_FORMS).replace('$', hex) + choose(random, EXTENSIONS) + choose(random, LINE_ENDS)
    );
  };
  let text = '';
  for (const part of data) {
    if (part === '') continue;
    const told = random.chance(0.02) ? part.length + random.pick([-1, 1]) : part.length;
    text += line(told) + part + choose(random, LINE_ENDS);
  }
  if (random.chance(0.03)) return text;
  return text + line(0) + choose(random, TRAILERS) + (random.chance(0.03) ? '' : choose(random, LINE_ENDS));
}

function others(random: Random): string[] {
  const fields: string[] = [];
  while (random.chance(0.4)) fields.push(random.pick(OTHERS));
  while (random.chance(0.2)) fields.push(`Connection${choose(random, COLONS)}${random.pick(CONNECTIONS)}`);
  while (random.chance(0.12)) fields.push(`Keep-Alive${choose(random, COLONS)}${random.pick(HINTS)}`);
  if (random.chance(0.002)) fields.push(...Array<string>(3_000).fill('x-long: yyyyyyyy'));
  return fields;
}

function shuffled<T>(random: Random, list: T[]): T[] {
  for (let i = list.length - 1; i > 0; i--) {
    const other = random.below(i + 1);
    [list[i], list[other]] = [list[other]!, list[i]!];
  }
  return list;
}

/** One byte changed, dropped or doubled. */
function flipped(random: Random, text: string): string {
  const at = random.below(text.length);
  const byte = random.pick(['', text[at]! + text[at]!, String.fromCharCode(random.below(256))]);
  return text.slice(0, at) + byte + text.slice(at + 1);
}

function cut(random: Random, bytes: Buffer): Buffer[] {
  if (bytes.length < 1_000 && random.chance(0.02)) return [...bytes].map((byte) => Buffer.from([byte]));
  const places = Array.from({ length: random.below(4) }, () => random.below(bytes.length + 1));
  const sorted = [0, ...places.sort((a, b) => a - b), bytes.length];
  return sorted
    .slice(1)
    .map((end, i) => bytes.subarray(sorted[i], end))
    .filter((piece) => piece.length > 0);
}

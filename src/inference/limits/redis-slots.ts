/** A cluster of Redis keeps each key in one of so many slots, and each slot on one of its nodes. */
export const SLOTS = 16_384;

/** CRC16 (XMODEM), as the cluster computes it. */
const TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc;
});

/** The slot of a key: of what stands between braces, where there are any. Keys of ours are ASCII. */
export function slotOf(key: string): number {
  const opened = key.indexOf('{');
  const closed = opened < 0 ? -1 : key.indexOf('}', opened);
  const [from, to] = closed > opened + 1 ? [opened + 1, closed] : [0, key.length];
  let crc = 0;
  for (let i = from; i < to; i++) crc = (crc << 8) ^ TABLE[((crc >> 8) ^ key.charCodeAt(i)) & 0xff]!;
  return crc & (SLOTS - 1);
}

/** Consecutive slots, and `host:port` of the node that has them. */
export interface SlotRange {
  first: number;
  last: number;
  owner: string;
}

/** Where a node says that another one is: it may leave the host out, which is its own then. */
export const addressOf = (host: string | null, port: string | number, teller: string): string =>
  `${host || teller.slice(0, teller.lastIndexOf(':'))}:${port}`;

/** Reads the answer to `CLUSTER SLOTS` of the node at `teller`. Copies of a slot are left out: nothing is read from them. */
export function slotRanges(answer: unknown, teller: string): SlotRange[] {
  return (answer as [number, number, [string | null, number]][]).map(([first, last, [host, port]]) => ({
    ...{ first, last },
    owner: addressOf(host, port, teller),
  }));
}

/** What a node answers to a command about a slot that it doesn't have, or doesn't have whole. */
export type Redirect =
  /** The slot is another node's now. */
  | { kind: 'moved'; address: string }
  /** The slot is on its way to another node, and this key is there already. */
  | { kind: 'ask'; address: string }
  /** Some of the keys are here, some there. */
  | { kind: 'again' };

/** Reads an error of the node at `teller`; undefined where it is about something else. */
export function redirectOf(error: unknown, teller: string): Redirect | undefined {
  const [word, , address = ''] = String((error as Error | undefined)?.message).split(' ');
  if (word === 'TRYAGAIN') return { kind: 'again' };
  if (word !== 'MOVED' && word !== 'ASK') return undefined;
  const colon = address.lastIndexOf(':');
  return {
    kind: word === 'MOVED' ? 'moved' : 'ask',
    address: addressOf(address.slice(0, colon), address.slice(colon + 1), teller),
  };
}

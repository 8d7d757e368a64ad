import { keepingOwner } from './work-owner.js';

/** A list whose texts are too many to be in memory at once. */
export interface Pieces<Item> {
  first: Item[];
  /** What follows, each piece read when it is asked for; absent where the first is all. */
  rest?: AsyncIterable<Item[]> | undefined;
}

/** An entry that is still to be read, with about as many bytes as its texts have. */
export interface SizedEntry {
  id: string;
  bytes: number;
}

/** The most bytes of a piece, unless a single entry has more. */
const PIECE_BYTES = 256 * 1024;

/**
 * Reads a list by the ids of its entries, in pieces of about 256 KiB. The first is read at once, so that a database that is away
 * is told before anything was sent.
 */
export async function readInPieces<Item>(
  entries: readonly SizedEntry[],
  read: (ids: string[]) => Promise<Item[]>,
): Promise<Pieces<Item>> {
  const [first, ...others] = piecesOf(entries);
  if (!first) return { first: [] };
  // The socket that drains asks for the next piece: it is still the work of the one who asked for the list.
  const readLater = keepingOwner(read);
  return {
    first: await read(first),
    ...(others.length > 0 && {
      rest: (async function* () {
        for (const ids of others) yield await readLater(ids);
      })(),
    }),
  };
}

function piecesOf(entries: readonly SizedEntry[]): string[][] {
  const pieces: string[][] = [];
  let room = 0;
  for (const { id, bytes } of entries) {
    const piece = pieces.at(-1);
    if (piece && bytes <= room) piece.push(id);
    else {
      pieces.push([id]);
      room = PIECE_BYTES;
    }
    room -= bytes;
  }
  return pieces;
}

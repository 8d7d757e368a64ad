import { keepingOwner } from './work-owner.js';

/** A list that is too large to be in memory at once. */
export interface Pieces<Item> {
  first: Item[];
  /** The remaining pieces, each read on demand; absent if there are none. */
  rest?: AsyncIterable<Item[]> | undefined;
}

/** An entry to read, with the approximate size of its texts. */
export interface SizedEntry {
  id: string;
  bytes: number;
}

/** Most bytes of a piece, unless a single entry has more. */
const PIECE_BYTES = 256 * 1024;

/**
 * Reads a list by the ids of its entries, in pieces of about 256 KiB. Reads the first piece at once, so that an unavailable database
 * is reported before anything was sent.
 */
export async function readInPieces<Item>(
  entries: readonly SizedEntry[],
  read: (ids: string[]) => Promise<Item[]>,
): Promise<Pieces<Item>> {
  const [first, ...others] = piecesOf(entries);
  if (!first) return { first: [] };
  // A draining socket requests the next piece, which still counts as work of the list's owner.
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

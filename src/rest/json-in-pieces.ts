import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import type { Pieces } from '../lib/in-pieces.js';

/**
 * Sends JSON that ends with a list in pieces: the next one is read when the client has received the last. If reading
 * fails, the response ends early, without the final chunk.
 * @param empty The JSON with an empty list: `[]`, or an object with the list as its last member.
 * @param entry The schema of the list's entries.
 */
export function sendInPieces<Entry extends z.ZodType>(
  reply: FastifyReply,
  empty: string,
  entry: Entry,
  pieces: Pieces<z.output<Entry>>,
): never {
  reply.type('application/json; charset=utf-8');
  // HEAD has no body, so nothing has to be read.
  const body = reply.request.method === 'HEAD' ? [] : jsonOf(empty, entry, pieces);
  return reply.send(Readable.from(body)) as never;
}

async function* jsonOf<Entry extends z.ZodType>(
  empty: string,
  entry: Entry,
  { first, rest }: Pieces<z.output<Entry>>,
): AsyncGenerator<string> {
  const entries = (piece: readonly z.output<Entry>[]): string =>
    piece.map((one) => JSON.stringify(z.encode(entry, one))).join(',');
  const end = empty.lastIndexOf(']');
  yield empty.slice(0, end);
  let comma = '';
  for await (const piece of follow(first, rest)) {
    // Its entries may have been deleted since the list began.
    if (piece.length === 0) continue;
    yield comma + entries(piece);
    comma = ',';
  }
  yield empty.slice(end);
}

async function* follow<Item>(first: Item, rest: AsyncIterable<Item> | undefined): AsyncGenerator<Item> {
  yield first;
  if (rest) yield* rest;
}

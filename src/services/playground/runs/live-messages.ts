import { z } from 'zod';
import type { ContentKey } from '../content.js';
import { liveField } from '../playground.rules.js';
import type { LiveSession } from './live-session.js';

/** Where a process asks for what it lacks of a session; the one that has its runs answers. */
export const ASK_CHANNEL = 'playground-ask';
/** Where the runs of a session are told of. */
export const sessionChannel = (sessionId: string): string => `playground-session-${sessionId}`;

const ask = z.object({ session: z.string(), lengths: z.record(z.string(), z.int().min(0)) });

/** What a process asks: for a session, from these lengths of its answers on. */
export type Ask = z.infer<typeof ask>;

const pieces = z.array(
  z.object({ id: z.string(), at: z.int().min(0), text: z.string(), ttftMs: z.int().nullable() }),
);
export type Piece = z.infer<typeof pieces>[number];

const lengthsOf = ({ runs }: LiveSession): Ask['lengths'] =>
  Object.fromEntries(runs.map(({ id, text }) => [id, text.length]));

export const askFor = (session: LiveSession): string =>
  JSON.stringify({ session: session.id, lengths: lengthsOf(session) } satisfies Ask);

/** Undefined for what is none. */
export const readAsk = (message: string): Ask | undefined => parsed(message, ask);

/** Answers don't stand in Redis as plain text either: whoever follows has the account's key. */
export const sealPieces = (session: LiveSession, key: ContentKey, told: readonly Piece[]): string =>
  key.seal(JSON.stringify(told), liveField(session.accountId, session.id));

/** Undefined for what isn't of this session and its account. */
export function openPieces(session: LiveSession, key: ContentKey, message: string): Piece[] | undefined {
  try {
    return parsed(key.open(message, liveField(session.accountId, session.id)).toString('utf8'), pieces);
  } catch {
    return undefined;
  }
}

function parsed<T>(text: string, schema: z.ZodType<T>): T | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

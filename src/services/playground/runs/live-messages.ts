import { z } from 'zod';
import type { ContentKey } from '../content.js';
import { liveField } from '../playground.rules.js';
import type { LiveSession } from './live-session.js';

/** Where a process asks for missing parts of a session; the process that makes its runs answers. */
export const ASK_CHANNEL = 'playground-ask';
/** Where the progress of a session's runs is published. */
export const sessionChannel = (sessionId: string): string => `playground-session-${sessionId}`;

const ask = z.object({ session: z.string(), lengths: z.record(z.string(), z.int().min(0)) });

/** Asks for a session's answers from these lengths on. */
export type Ask = z.infer<typeof ask>;

const pieces = z.array(
  z.object({ id: z.string(), at: z.int().min(0), text: z.string(), ttftMs: z.int().nullable() }),
);
export type Piece = z.infer<typeof pieces>[number];

const lengthsOf = ({ runs }: LiveSession): Ask['lengths'] =>
  Object.fromEntries(runs.map(({ id, text }) => [id, text.length]));

export const askFor = (session: LiveSession): string =>
  JSON.stringify({ session: session.id, lengths: lengthsOf(session) } satisfies Ask);

/** Undefined for an invalid message. */
export const readAsk = (message: string): Ask | undefined => parsed(message, ask);

/** Answers are sealed in Redis too: every follower has the account's key. */
export const sealPieces = (session: LiveSession, key: ContentKey, pieces: readonly Piece[]): string =>
  key.seal(JSON.stringify(pieces), liveField(session.accountId, session.id));

/** Undefined for pieces of another session or account. */
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

import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { preferredEncoding } from '../lib/accept-encoding.js';

/** Below this size, a response fits into one or two packets anyway. */
const WORTH_COMPRESSING_BYTES = 1_024;
const TEXTS = /^(?:text\/(?:html|css|csv|plain)|application\/(?:[\w.-]+\+)?json)\b/;
/** Responses aren't reused, so more effort gains little. */
const BROTLI_QUALITY = 4;
const GZIP_LEVEL = 6;

/** 256 KiB. A streamed response keeps its window in memory while it waits for its reader; the default is 4 MiB. */
const STREAMED_WINDOW_BITS = 18;

const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } };
const streamedBrotli = {
  params: { ...brotliOptions.params, [constants.BROTLI_PARAM_LGWIN]: STREAMED_WINDOW_BITS },
};
const whole = {
  br: (content: Buffer) => promisify(brotliCompress)(content, brotliOptions),
  gzip: (content: Buffer) => promisify(gzip)(content, { level: GZIP_LEVEL }),
};
const streamed = {
  br: () => createBrotliCompress(streamedBrotli),
  gzip: () => createGzip({ level: GZIP_LEVEL }),
};

declare module 'fastify' {
  interface FastifyReply {
    /**
     * The response contains a secret next to data from the caller: its compressed length would reveal it (BREACH).
     */
    holdsSecret: boolean;
  }
}

/**
 * Compresses texts above 1 KiB if the client accepts that. Never responses to writes of `/api`, which are small and
 * may contain a secret, and none that a handler has marked. Event streams aren't compressed.
 */
export function compressAnswers(app: FastifyInstance): void {
  app.decorateReply('holdsSecret', false);
  app.addHook('onSend', async (request, reply, payload: unknown) => {
    const type = String(reply.getHeader('content-type') ?? '');
    if (!TEXTS.test(type) || reply.hasHeader('content-encoding') || !mayCompress(request, reply))
      return payload;
    if (reply.statusCode === 204 || reply.statusCode === 304) return payload;
    const isStream = payload instanceof Readable;
    const content = isStream ? undefined : contentOf(payload);
    if (!isStream && (content === undefined || content.length < WORTH_COMPRESSING_BYTES)) return payload;
    addVary(reply);
    const encoding = preferredEncoding(request.headers['accept-encoding']);
    if (!encoding) return payload;
    reply.header('content-encoding', encoding);
    reply.removeHeader('content-length');
    if (content) return whole[encoding](content);
    const compressed = streamed[encoding]();
    // A failed read aborts the response, as it does without compression.
    (payload as Readable).once('error', (error) => compressed.destroy(error));
    compressed.once('close', () => (payload as Readable).destroy());
    return (payload as Readable).pipe(compressed);
  });
}

const mayCompress = ({ method, url }: FastifyRequest, reply: FastifyReply): boolean =>
  !reply.holdsSecret && (method === 'GET' || method === 'HEAD' || /^\/graphql(?:\?|$)/.test(url));

function contentOf(payload: unknown): Buffer | undefined {
  if (typeof payload === 'string') return Buffer.from(payload);
  return Buffer.isBuffer(payload) ? payload : undefined;
}

function addVary(reply: FastifyReply): void {
  const named = String(reply.getHeader('vary') ?? '');
  if (!/accept-encoding/i.test(named))
    reply.header('vary', named ? `${named}, accept-encoding` : 'accept-encoding');
}

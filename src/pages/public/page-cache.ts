import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ContentEncoding, preferredEncoding } from '../../lib/accept-encoding.js';
import type { Clock } from '../../lib/clock.js';
import { isKnown, weakEtag } from '../../lib/etag.js';

const CACHE_MS = 5 * 60_000;
const CACHE_CONTROL = 'public, max-age=300';
const HTML = 'text/html; charset=utf-8';
/** It is done once in minutes, for everybody. */
const BROTLI_QUALITY = 9;

const compress: Record<ContentEncoding, (content: Buffer) => Promise<Buffer>> = {
  br: (content) =>
    promisify(brotliCompress)(content, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  gzip: (content) => promisify(gzip)(content),
};

/** A document as it is sent. */
interface Rendered {
  etag: string;
  content: Buffer;
  /** Made when somebody first wants it. */
  compressed: Map<ContentEncoding, Promise<Buffer>>;
}

/** What a document is made from, if that can change before five minutes are over: the same object is the same content. */
type Basis = object | undefined;

/** Public documents that are the same for everybody: rendered once, compressed once, and sent from memory. */
export function createPageCache(clock: Clock) {
  const kept = new Map<string, { at: number; basis: Basis; page: Promise<Rendered> }>();

  function rendered(key: string, basis: Basis, render: () => string | Promise<string>): Promise<Rendered> {
    const known = kept.get(key);
    const age = known && clock.now() - known.at;
    if (known && known.basis === basis && age !== undefined && age >= 0 && age < CACHE_MS) return known.page;
    const page = Promise.resolve()
      .then(render)
      .then((text) => ({ etag: weakEtag(text), content: Buffer.from(text), compressed: new Map() }));
    const entry = { at: clock.now(), basis, page };
    kept.set(key, entry);
    page.catch(() => {
      if (kept.get(key) === entry) kept.delete(key);
    });
    return page;
  }

  async function current<T extends Basis>(
    request: FastifyRequest,
    key: string,
    basisOf: () => T | Promise<T>,
    render: (basis: T) => string | Promise<string>,
  ): Promise<Rendered> {
    const former = kept.get(key);
    try {
      const basis = await basisOf();
      return await rendered(key, basis, () => render(basis));
    } catch (error) {
      if (!former) throw error;
      request.log.warn({ err: error, page: key }, 'the page is shown as it was');
      if (!kept.has(key)) kept.set(key, former);
      return former.page;
    }
  }

  return {
    /**
     * Sends the document of a key, or 304 to who has it. Keys are as many as pages, never as many as somebody can ask for. While
     * it can't be made, the document is shown as it was.
     * @param basisOf Gives what it is made from: another object renders it anew.
     * @param type Its content type.
     */
    async send<T extends Basis>(
      request: FastifyRequest,
      reply: FastifyReply,
      key: string,
      basisOf: () => T | Promise<T>,
      render: (basis: T) => string | Promise<string>,
      type = HTML,
    ): Promise<FastifyReply> {
      const { etag, content, compressed } = await current(request, key, basisOf, render);
      reply.headers({ 'cache-control': CACHE_CONTROL, etag, vary: 'accept-encoding' });
      if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send();
      reply.type(type);
      const encoding = preferredEncoding(request.headers['accept-encoding']);
      if (!encoding) return reply.send(content);
      const made = compressed.get(encoding) ?? compress[encoding](content);
      compressed.set(encoding, made);
      return reply.header('content-encoding', encoding).send(await made);
    },
  };
}

export type PageCache = ReturnType<typeof createPageCache>;

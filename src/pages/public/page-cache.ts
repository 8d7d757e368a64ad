import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ContentEncoding, preferredEncoding } from '../../lib/accept-encoding.js';
import type { Clock } from '../../lib/clock.js';
import { isKnown, weakEtag } from '../../lib/etag.js';

const CACHE_MS = 5 * 60_000;
const CACHE_CONTROL = 'public, max-age=300';
const HTML = 'text/html; charset=utf-8';
/** High, since each page is compressed once in minutes for everybody. */
const BROTLI_QUALITY = 9;

const compress: Record<ContentEncoding, (content: Buffer) => Promise<Buffer>> = {
  br: (content) =>
    promisify(brotliCompress)(content, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  gzip: (content) => promisify(gzip)(content),
};

/** A rendered document. */
interface Rendered {
  etag: string;
  content: Buffer;
  /** Made at the first request. */
  compressed: Map<ContentEncoding, Promise<Buffer>>;
}

/** The data behind a document, if it can change within five minutes: the same object means the same content. */
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
      request.log.warn({ err: error, page: key }, 'failed to render a page: sending its previous version');
      if (!kept.has(key)) kept.set(key, former);
      return former.page;
    }
  }

  return {
    /**
     * Sends the document of a key, or 304. The number of keys must be limited by the number of pages. If rendering
     * fails, the previous document is sent.
     * @param basisOf Returns the data behind it: a different object renders it again.
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

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { output } from './paths.mjs';

const DECOMPRESS = { br: brotliDecompressSync, gzip: gunzipSync };

/**
 * The compressed copies of the former build: a change of one page leaves most assets as they were, and compressing all of
 * them takes longer than the rest of a build.
 * @returns the copy of an asset, or nothing where there is none of this very content
 */
export function formerCopies(compressedBy) {
  const manifest = read();
  if (manifest?.compressedBy !== compressedBy) return () => undefined;
  const etags = new Map(manifest.assets.map(({ path, etag }) => [path, etag]));
  return (fileName, encoding, etag, content) => {
    if (etags.get(`/${fileName}`) !== etag) return undefined;
    try {
      const copy = readFileSync(join(output, `${fileName}.${encoding}`));
      // A copy that was cut or changed on the disk is made anew.
      return DECOMPRESS[encoding](copy).equals(content) ? copy : undefined;
    } catch {
      return undefined;
    }
  };
}

/** Nothing where no build is, or one of another form. */
function read() {
  try {
    const manifest = JSON.parse(readFileSync(join(output, 'manifest.json'), 'utf8'));
    return Array.isArray(manifest.assets) ? manifest : undefined;
  } catch {
    return undefined;
  }
}

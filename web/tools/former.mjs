import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { output } from './paths.mjs';

const DECOMPRESS = { br: brotliDecompressSync, gzip: gunzipSync };

/**
 * The compressed copies of the previous build: a change of one page leaves most assets unchanged, and compressing all of them
 * takes longer than the rest of a build.
 * @returns a function that gives the copy of an asset, or undefined if the previous build had no such content
 */
export function formerCopies(compressedBy) {
  const manifest = read();
  if (manifest?.compressedBy !== compressedBy) return () => undefined;
  const etags = new Map(manifest.assets.map(({ path, etag }) => [path, etag]));
  return (fileName, encoding, etag, content) => {
    if (etags.get(`/${fileName}`) !== etag) return undefined;
    try {
      const copy = readFileSync(join(output, `${fileName}.${encoding}`));
      // A copy that was cut or changed on the disk isn't used.
      return DECOMPRESS[encoding](copy).equals(content) ? copy : undefined;
    } catch {
      return undefined;
    }
  };
}

/** Undefined without a build, or with one of another format. */
function read() {
  try {
    const manifest = JSON.parse(readFileSync(join(output, 'manifest.json'), 'utf8'));
    return Array.isArray(manifest.assets) ? manifest : undefined;
  } catch {
    return undefined;
  }
}

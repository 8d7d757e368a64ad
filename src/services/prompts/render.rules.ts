import { placeholders } from './placeholders.rules.js';

/** A template and what its placeholders may be filled with. */
export interface RenderInput {
  content: string;
  /** Values that were supplied; each wins over a default. */
  values: ReadonlyMap<string, string>;
  defaults: ReadonlyMap<string, string>;
  /** Most bytes of UTF-8 that may come out. */
  maxBytes: number;
}

export type Rendering =
  | { kind: 'rendered'; text: string }
  /** Variables that have neither a value nor a default, in the order in which they come first. */
  | { kind: 'missing'; names: string[] }
  | { kind: 'too large' };

/** Fills the placeholders of a template. A value is put in as it is: neither escaped nor looked through again. */
export function render({ content, values, defaults, maxBytes }: RenderInput): Rendering {
  const parts: string[] = [];
  const sizes = new Map<string, number>();
  const missing = new Set<string>();
  let bytes = 0;
  let done = 0;
  for (const { name, start, end } of placeholders(content)) {
    const value = values.get(name) ?? defaults.get(name);
    if (value === undefined) {
      missing.add(name);
      continue;
    }
    // A value that comes a thousand times is measured once, and one too many isn't put in.
    const size = sizes.get(name) ?? Buffer.byteLength(value);
    sizes.set(name, size);
    bytes += size;
    if (bytes <= maxBytes) parts.push(content.slice(done, start), value);
    done = end;
  }
  if (missing.size > 0) return { kind: 'missing', names: [...missing] };
  if (bytes > maxBytes) return { kind: 'too large' };
  const text = [...parts, content.slice(done)].join('');
  return Buffer.byteLength(text) > maxBytes ? { kind: 'too large' } : { kind: 'rendered', text };
}

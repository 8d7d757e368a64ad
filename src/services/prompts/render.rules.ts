import { placeholders } from './placeholders.rules.js';

/** A template and the values for its placeholders. */
export interface RenderInput {
  content: string;
  /** Supplied values; each takes precedence over a default. */
  values: ReadonlyMap<string, string>;
  defaults: ReadonlyMap<string, string>;
  /** Maximum size of the result in UTF-8. */
  maxBytes: number;
}

export type Rendering =
  | { kind: 'rendered'; text: string }
  /** Variables with neither a value nor a default, in order of first appearance. */
  | { kind: 'missing'; names: string[] }
  | { kind: 'too large' };

/**
 * Fills the placeholders of a template. Values are inserted unchanged: neither escaped nor searched for placeholders.
 */
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
    // Measures a repeated value once, and doesn't insert one that is too long.
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

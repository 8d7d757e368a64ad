/** Replaces the node's name of the model by the public one, where it stands as a whole word. */
export function publicNames(text: string, upstreamModel: string, publicName: string): string {
  const parts = text.split(upstreamModel);
  return parts.reduce((left, right) => {
    const within = /[\w./-]$/.test(left) || /^[\w/-]/.test(right);
    return left + (within ? upstreamModel : publicName) + right;
  });
}

const MAX_DEPTH = 8;

/** Applies `clean` to every string of a JSON value. */
export function cleanStrings(value: unknown, clean: (text: string) => string, depth = 0): unknown {
  if (typeof value === 'string') return clean(value);
  if (depth >= MAX_DEPTH || typeof value !== 'object' || value === null) {
    return typeof value === 'object' && value !== null ? null : value;
  }
  if (Array.isArray(value)) return value.map((item) => cleanStrings(item, clean, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, cleanStrings(item, clean, depth + 1)]),
  );
}

/** Fastify answers 400. */
class UnreadableTargetError extends Error {
  readonly statusCode = 400;
}

/**
 * What to ask the platform for: `url` without `.` segments, behind the path of the platform's address.
 * @param base Path of the platform's address, without a slash at its end.
 * @throws Error with status 400 for a path that climbs, or that another reader could take for another host.
 */
export function platformTarget(base: string, url: string): string {
  const at = url.indexOf('?');
  const path = at < 0 ? url : url.slice(0, at);
  const plain = decoded(path).replaceAll('\\', '/');
  if (/^[\\/]{2}/.test(path) || plain.includes('/..') || plain.includes('../'))
    throw new UnreadableTargetError(`unreadable: ${path}`);
  return base + new URL(path, 'http://platform.invalid').pathname + (at < 0 ? '' : url.slice(at));
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch (cause) {
    throw new UnreadableTargetError(`unreadable: ${path}`, { cause });
  }
}

import { setTimeout as delay } from 'node:timers/promises';

/** What `find` gives once it is something. @throws when that takes longer than half a minute */
export async function until(what, find) {
  for (const end = Date.now() + 30_000; Date.now() < end; await delay(50)) {
    const found = await find();
    if (found) return found;
  }
  throw new Error(`${what} did not come`);
}

import { wouldLoseText } from './ui/unsaved';

/** Session storage: the build for which this tab was reloaded. With `:` and the part's name, the same for each missing part. */
const RELOADED_FOR = 'gateway:reloaded-for';
const TIMEOUT_MS = 5_000;

/** The dashboard's script, whose name changes with each build. */
const SCRIPT = /\/assets\/app-[\w-]+\.js/;

const own = document.querySelector('link[href^="/assets/app-"]')?.getAttribute('href') ?? undefined;
let reloading = false;

/**
 * The server's current build.
 * @throws Error while the server can't be reached, or has no pages
 */
async function currentBuild(): Promise<string> {
  const answer = await fetch('/login', {
    cache: 'no-store',
    credentials: 'omit',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  // Read as text: a parsed document would apply its styles, which this page's policy refuses.
  const build = answer.ok && SCRIPT.exec(await answer.text())?.[0];
  if (!build) throw new Error('the server has no pages at the moment');
  return build;
}

/**
 * The same; undefined while the server can't be reached. Never resolves while the page is already being left, as after another
 * error.
 */
async function reachableBuild(): Promise<string | undefined> {
  const build = await currentBuild().catch(() => undefined);
  return reloading ? new Promise(() => undefined) : build;
}

/** Remembers that this tab is reloaded for a build. False if it already was, or if that can't be stored: it might reload forever. */
function isFirst(name: string, build: string): boolean {
  try {
    if (sessionStorage.getItem(name) === build) return false;
    sessionStorage.setItem(name, build);
    return true;
  } catch {
    return false;
  }
}

/** Reloads this page, once for a build. Resolves only if it doesn't reload. */
async function reloadOnce(name: string, build: string): Promise<void> {
  if (!isFirst(name, build)) return;
  reloading = true;
  location.reload();
  return new Promise(() => undefined);
}

/** Reloads this page, once, if the server has another build. Resolves only if it doesn't reload. */
export async function reloadForNewBuild(): Promise<void> {
  const build = await reachableBuild();
  if (build !== undefined && build !== own) await reloadOnce(RELOADED_FOR, build);
}

/**
 * Reloads this page for a missing part, if the server answers: some browsers don't fetch a module again after a failure. Reloads
 * once only, and never where typed text would be lost. Resolves only if it doesn't reload.
 * @returns whether the server answers
 */
export async function reloadForPart(part: string): Promise<boolean> {
  const build = await reachableBuild();
  if (build !== undefined && !wouldLoseText()) await reloadOnce(`${RELOADED_FOR}:${part}`, build);
  return build !== undefined;
}

/** A part was fetched: it may be reloaded for again. */
export function forgetReload(part: string): void {
  try {
    sessionStorage.removeItem(`${RELOADED_FOR}:${part}`);
  } catch {
    // Then nothing was stored.
  }
}

/**
 * Reloads this page, but only if the server answers: otherwise the browser's own error page would take its place.
 * @returns whether the server answers
 */
export async function reloadIfReachable(): Promise<boolean> {
  try {
    await currentBuild();
  } catch {
    return false;
  }
  location.reload();
  return true;
}

import { wouldLoseText } from './ui/unsaved';

/** In the session's storage: the build for which this tab was loaded anew, and by `:` and its name the same for each missing part. */
const RELOADED_FOR = 'gateway:reloaded-for';
const TIMEOUT_MS = 5_000;

/** The dashboard's script, whose name changes with each build. */
const SCRIPT = /\/assets\/app-[\w-]+\.js/;

const own = document.querySelector('link[href^="/assets/app-"]')?.getAttribute('href') ?? undefined;
let reloading = false;

/**
 * The build that the server has now.
 * @throws Error while the server can't be reached, or has no pages
 */
async function currentBuild(): Promise<string> {
  const answer = await fetch('/login', {
    cache: 'no-store',
    credentials: 'omit',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  // Read as text: a document that is parsed applies its styles, which this page's policy refuses.
  const build = answer.ok && SCRIPT.exec(await answer.text())?.[0];
  if (!build) throw new Error('the server has no pages at the moment');
  return build;
}

/**
 * The same; undefined while the server can't be reached. Doesn't end while the page is already on its way out, as another error
 * may have asked for.
 */
async function reachableBuild(): Promise<string | undefined> {
  const build = await currentBuild().catch(() => undefined);
  return reloading ? new Promise(() => undefined) : build;
}

/** Remembers that this tab is loaded anew for a build. False if it was before, or can't be remembered: it might go on for ever. */
function isFirst(name: string, build: string): boolean {
  try {
    if (sessionStorage.getItem(name) === build) return false;
    sessionStorage.setItem(name, build);
    return true;
  } catch {
    return false;
  }
}

/** Loads this page anew, once for a build: it might not help. Ends if it doesn't. */
async function reloadOnce(name: string, build: string): Promise<void> {
  if (!isFirst(name, build)) return;
  reloading = true;
  location.reload();
  return new Promise(() => undefined);
}

/** Loads this page anew if the server has another build than this one: once, should that not help. Ends if it doesn't. */
export async function reloadForNewBuild(): Promise<void> {
  const build = await reachableBuild();
  if (build !== undefined && build !== own) await reloadOnce(RELOADED_FOR, build);
}

/**
 * Reloads this page for a part that is missing, if the server answers: some browsers don't fetch a module again that they
 * couldn't fetch. Once, should that not help, and never where it would lose what was typed. Ends if it doesn't.
 * @returns whether the server answers
 */
export async function reloadForPart(part: string): Promise<boolean> {
  const build = await reachableBuild();
  if (build !== undefined && !wouldLoseText()) await reloadOnce(`${RELOADED_FOR}:${part}`, build);
  return build !== undefined;
}

/** A part was fetched: should it be missing again, that is another matter. */
export function forgetReload(part: string): void {
  try {
    sessionStorage.removeItem(`${RELOADED_FOR}:${part}`);
  } catch {
    // Then nothing was stored.
  }
}

/**
 * Loads this page anew, but only from a server that answers: else the browser's own error page would take its place.
 * @returns whether it answers
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

/** In the session's storage: the build for which this tab was loaded anew. */
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

/** Loads this page anew if the server has another build than this one: once, should that not help. Ends if it doesn't. */
export async function reloadForNewBuild(): Promise<void> {
  const build = await currentBuild().catch(() => own);
  // Asked by another error while the page is already on its way out.
  if (reloading) return new Promise(() => undefined);
  if (build === undefined || build === own || sessionStorage.getItem(RELOADED_FOR) === build) return;
  sessionStorage.setItem(RELOADED_FOR, build);
  reloading = true;
  location.reload();
  return new Promise(() => undefined);
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

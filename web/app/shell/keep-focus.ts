/** How many focused elements are remembered. */
const REMEMBERED = 12;
/** Time for dialogs and page titles to take the focus by themselves. */
const SETTLE_MS = 50;
/** A button is disabled while it waits for an answer. After this time it counts as disabled for good. */
const DISABLED_MS = 5_000;
/** Elements that may take the focus if its element is gone. */
const PLACES = 'main, [role="dialog"]';

interface Focused {
  element: HTMLElement;
  /** Its ancestors within the page or a dialog, nearest first. */
  around: HTMLElement[];
}

const isNowhere = (): boolean => document.activeElement === null || document.activeElement === document.body;
const isShown = (element: HTMLElement): boolean =>
  element.isConnected && (element.checkVisibility?.() ?? true);

function ancestors(element: HTMLElement): HTMLElement[] {
  const place = element.closest(PLACES);
  const around: HTMLElement[] = [];
  for (let at = element.parentElement; place && at && place.contains(at); at = at.parentElement)
    around.push(at);
  return around;
}

/** Focuses an element that isn't focusable by itself: the next Tab continues from there. */
function focusPart(part: HTMLElement): void {
  if (!part.hasAttribute('tabindex')) {
    part.tabIndex = -1;
    part.style.outline = 'none';
  }
  part.focus({ preventScroll: true });
}

/**
 * Restores the focus when its element is disabled or removed. The browser would move it to the top of the document, and users of a
 * keyboard or screen reader would lose their place. The focus returns to the element once that is enabled again, to what is left
 * around it, or to the one before, such as the button that opened a dialog. Any other change of focus is left alone.
 * @returns a function that stops it
 */
export function keepFocus(): () => void {
  const recent: Focused[] = [];
  let lostAt: number | undefined;
  let timer: number | undefined;

  const giveBack = (): void => {
    for (const { element, around } of recent.toReversed()) {
      if (isShown(element) && !element.matches(':disabled')) {
        element.focus({ preventScroll: true });
        return;
      }
      const part = around.find(isShown);
      if (part) {
        focusPart(part);
        return;
      }
    }
  };
  const settle = (): void => {
    timer = undefined;
    const last = recent.at(-1)?.element;
    if (lostAt === undefined || !last) return;
    const isWaiting = last.isConnected && last.matches(':disabled');
    if (!isNowhere()) {
      if (!isWaiting || document.activeElement !== last) lostAt = undefined;
      return;
    }
    // Checked again after the next change of the page.
    if (isWaiting && performance.now() - lostAt < DISABLED_MS) return;
    lostAt = undefined;
    giveBack();
  };
  const changed = (): void => {
    const last = recent.at(-1)?.element;
    // An element that was just disabled keeps the focus until the next paint.
    if (!last || !(isNowhere() || document.activeElement === last)) return;
    if (!last.isConnected || last.matches(':disabled')) lostAt ??= performance.now();
    if (lostAt !== undefined) timer ??= window.setTimeout(settle, SETTLE_MS);
  };
  const gained = ({ target }: FocusEvent): void => {
    if (!(target instanceof HTMLElement)) return;
    lostAt = undefined;
    recent.push({ element: target, around: ancestors(target) });
    if (recent.length > REMEMBERED) recent.shift();
  };
  const observer = new MutationObserver(changed);
  observer.observe(document.body, {
    subtree: true,
    childList: true,
    attributes: true,
    attributeFilter: ['disabled'],
  });
  document.addEventListener('focusin', gained);
  return () => {
    window.clearTimeout(timer);
    observer.disconnect();
    document.removeEventListener('focusin', gained);
  };
}

/** So many elements that had the focus are remembered. */
const REMEMBERED = 12;
/** Time for whatever takes the focus by itself, such as a dialog or the title of a page. */
const SETTLE_MS = 50;
const OPEN_DIALOG = '[role="dialog"][aria-modal="true"]';

const hasNone = (): boolean => document.activeElement === null || document.activeElement === document.body;

/** Whether it is still there, or only waits for an answer. */
const canReturn = (element: HTMLElement): boolean => element.isConnected && element.checkVisibility();

/**
 * Gives the focus back when its element is disabled or removed, which the browser answers by taking the focus to the top of the
 * document: whoever works with the keyboard or a screen reader would lose their place. It goes back to the element once that is
 * enabled again, or to the last one before it that is still there. Whoever takes the focus away by a click keeps it away.
 * @returns how to stop
 */
export function keepFocus(): () => void {
  const recent: HTMLElement[] = [];
  let timer: number | undefined;
  const isLost = (): boolean => recent.length > 0 && hasNone();
  const restore = (): void => {
    if (!isLost()) return;
    const dialog = [...document.querySelectorAll<HTMLElement>(OPEN_DIALOG)].findLast(canReturn);
    const last = recent.findLast((element) => canReturn(element) && (!dialog || dialog.contains(element)));
    if (last?.matches(':disabled')) return;
    (last ?? dialog)?.focus({ preventScroll: true });
  };
  const restoreSoon = (): void => {
    if (!isLost()) return;
    window.clearTimeout(timer);
    timer = window.setTimeout(restore, SETTLE_MS);
  };
  const gained = ({ target }: FocusEvent): void => {
    if (!(target instanceof HTMLElement)) return;
    recent.push(target);
    if (recent.length > REMEMBERED) recent.shift();
  };
  const pressed = ({ target }: PointerEvent): void => {
    if (target instanceof Element && !target.closest('a, button, input, select, textarea, label, [tabindex]'))
      recent.length = 0;
  };
  const observer = new MutationObserver(restoreSoon);
  observer.observe(document.body, {
    subtree: true,
    childList: true,
    attributes: true,
    attributeFilter: ['disabled'],
  });
  document.addEventListener('focusin', gained);
  document.addEventListener('pointerdown', pressed);
  return () => {
    window.clearTimeout(timer);
    observer.disconnect();
    document.removeEventListener('focusin', gained);
    document.removeEventListener('pointerdown', pressed);
  };
}

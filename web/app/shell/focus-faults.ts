/** Time for a form to show what is wrong with it, or that it is being sent. */
const SETTLE_MS = 50;
const WRONG = '[aria-invalid="true"]:not(:disabled)';
/** While its button waits for the answer, a form may still show the faults of the last try. */
const SENDING = '[type="submit"]:disabled';
/** Whoever does this has gone on. */
const GONE_ON = ['keydown', 'pointerdown', 'input'] as const;

/**
 * Focuses the first wrong field of a form that was sent, whether the page or the server finds the fault. Whoever has gone on
 * before the answer keeps the focus.
 * @returns how to stop
 */
export function focusFaults(): () => void {
  let form: HTMLFormElement | undefined;
  let timer: number | undefined;

  const look = (): void => {
    if (!form || form.querySelector(SENDING)) return;
    const field = form.querySelector<HTMLElement>(WRONG);
    if (!field) return;
    forget();
    field.focus();
  };
  const observer = new MutationObserver(look);
  const forget = (): void => {
    form = undefined;
    window.clearTimeout(timer);
    observer.disconnect();
    for (const type of GONE_ON) document.removeEventListener(type, forget, true);
  };
  const sent = ({ target }: SubmitEvent): void => {
    forget();
    form = target as HTMLFormElement;
    observer.observe(form, {
      subtree: true,
      attributes: true,
      attributeFilter: ['aria-invalid', 'disabled'],
    });
    // A fault that was there before changes nothing.
    timer = window.setTimeout(look, SETTLE_MS);
    for (const type of GONE_ON) document.addEventListener(type, forget, true);
  };
  document.addEventListener('submit', sent);
  return () => {
    document.removeEventListener('submit', sent);
    forget();
  };
}

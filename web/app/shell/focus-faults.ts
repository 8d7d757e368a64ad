/** Time for a form to show its errors, or that it is being sent. */
const SETTLE_MS = 50;
const WRONG = '[aria-invalid="true"]:not(:disabled)';
/** While its button waits for the answer, a form may still show the errors of the last try. */
const SENDING = '[type="submit"]:disabled';
/** Events which show that the user has gone on. */
const GONE_ON = ['keydown', 'pointerdown', 'input'] as const;

/**
 * Focuses the first field with an error after a form was sent, whether the page or the server found it. If the user has gone on
 * before the answer, the focus stays.
 * @returns a function that stops it
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
    // Ignores an error that was there before.
    timer = window.setTimeout(look, SETTLE_MS);
    for (const type of GONE_ON) document.addEventListener(type, forget, true);
  };
  document.addEventListener('submit', sent);
  return () => {
    document.removeEventListener('submit', sent);
    forget();
  };
}

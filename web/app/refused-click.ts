/** In the session's storage: the account that this tab showed when a click in it was refused, before it was loaded anew. */
const NAME = 'gateway:refused-click';

/** Before the page is loaded anew for the account that the cookie names: whoever clicked is to hear that nothing was done. */
export function rememberRefusedClick(shownAccount: string): void {
  try {
    sessionStorage.setItem(NAME, shownAccount);
  } catch {
    // Then the page begins anew without a word.
  }
}

let shownAccount = takeRefusedClick();

/** Whether this page was loaded because a click was refused that was meant for another account than the one it has now. */
export const hasRefusedClick = (account: string): boolean =>
  shownAccount !== null && shownAccount !== account;

/** It was read, or another session begins, to which it means nothing. */
export function forgetRefusedClick(): void {
  shownAccount = null;
}

function takeRefusedClick(): string | null {
  try {
    const taken = sessionStorage.getItem(NAME);
    sessionStorage.removeItem(NAME);
    return taken;
  } catch {
    return null;
  }
}

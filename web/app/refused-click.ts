/** Session storage: the account that this tab showed when a click was refused, before it was reloaded. */
const NAME = 'gateway:refused-click';

/** Called before the page is reloaded for the cookie's account, so that the new page can report the refused click. */
export function rememberRefusedClick(shownAccount: string): void {
  try {
    sessionStorage.setItem(NAME, shownAccount);
  } catch {
    // Then the reloaded page doesn't report it.
  }
}

let shownAccount = takeRefusedClick();

/** Whether this page was reloaded because a click was refused that was meant for another account. */
export const hasRefusedClick = (account: string): boolean =>
  shownAccount !== null && shownAccount !== account;

/** The report was read, or another session begins. */
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

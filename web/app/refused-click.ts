/** In the session's storage: a click was refused that was meant for another account, so this tab is loaded anew. */
const NAME = 'gateway:refused-click';

/** Before the page is loaded anew for the account that the cookie names: whoever clicked is to hear that nothing was done. */
export function rememberRefusedClick(): void {
  try {
    sessionStorage.setItem(NAME, '1');
  } catch {
    // Then the page begins anew without a word.
  }
}

/** Whether that was why this page was loaded. */
export const hasRefusedClick = takeRefusedClick();

function takeRefusedClick(): boolean {
  try {
    const isThere = sessionStorage.getItem(NAME) !== null;
    sessionStorage.removeItem(NAME);
    return isThere;
  } catch {
    return false;
  }
}

import { AppError } from '../errors.js';
import { idInput } from '../lib/input-fields.js';

/** Names the account that a page shows. Over WebSocket, which has no headers in browsers, `accountId` does. */
export const ACCOUNT_HEADER = 'x-gateway-account';

const account = idInput('must be a UUID').nullish();

/**
 * Refuses a page that shows another account than its cookie names: all tabs of a browser share one cookie, and a click in one
 * of them means the account that is seen there. Only a session by cookie is compared; a bearer is what its client has chosen.
 * @param shown is what the page has sent; nothing refuses nobody.
 * @param accountId is that of the session
 * @throws AppError `account_changed`, or `invalid_request` for what is no id
 */
export function refuseOtherAccount(shown: unknown, accountId: string): void {
  const { success, data } = account.safeParse(shown);
  if (!success)
    throw new AppError('invalid_request', {
      message:
        'X-Gateway-Account must be the ID of the account that the page shows. Correct it, or leave it out.',
    });
  if (data && data !== accountId) throw new AppError('account_changed');
}

import { AppError } from '../errors.js';
import { idInput } from '../lib/input-fields.js';

/** Header with the account that a page shows. Over WebSocket, where browsers can't set headers, it is `accountId`. */
export const ACCOUNT_HEADER = 'x-gateway-account';

const account = idInput('must be a UUID').nullish();

/**
 * Refuses requests of a page that shows another account than its cookie's: all tabs of a browser share one cookie,
 * and a click in a tab is meant for the account shown there. Only cookie sessions are compared; a bearer is the
 * client's own choice.
 * @param shown the account that the page sent; without one, nothing is refused
 * @param accountId the session's account
 * @throws AppError `account_changed`, or `invalid_request` for an invalid id
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

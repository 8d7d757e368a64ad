import { AppError } from '../../errors.js';
import { COMMON_PASSWORD } from './accounts.inputs.js';
import { isCommonPassword } from './common-passwords.js';
import { KNOWN_PASSWORDS } from './known-passwords.data.js';

const known = new Set(KNOWN_PASSWORDS);
/** Whether a password is one of the most common ones, by the whole list that a browser doesn't load. */
export const isKnownPassword = (password: string): boolean =>
  known.has(password.toLowerCase()) || isCommonPassword(password);

/** @throws AppError `validation_error` for a password that is known to be common. */
export function refuseKnownPassword(password: string, field: string): void {
  if (!isKnownPassword(password)) return;
  throw new AppError('validation_error', { details: [{ field, message: COMMON_PASSWORD }] });
}

import { AppError } from '../../errors.js';
import { KNOWN_PASSWORDS } from './known-passwords.data.js';

const known = new Set(KNOWN_PASSWORDS);

/**
 * Compared without case. Only the list decides, since rules about what makes a password refuse good ones too.
 * @throws AppError `validation_error` for a password on the list.
 */
export function refuseKnownPassword(password: string, field: string): void {
  if (!known.has(password.toLowerCase())) return;
  const message = 'is one of the most common passwords; choose another';
  throw new AppError('validation_error', { details: [{ field, message }] });
}

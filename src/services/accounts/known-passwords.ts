import { AppError } from '../../errors.js';
import { KNOWN_PASSWORDS } from './known-passwords.data.js';

/**
 * Digits that are on every list of common passwords. The bundled list leaves them out because its library finds them
 * by pattern.
 */
const DIGITS = `00000000 22222222 33333333 44444444 55555555 66666666 77777777 88888888 99999999 01234567 0123456789 87654321
  987654321 9876543210 0987654321 123123123 12341234 123454321 1234554321 12344321 123321123 147147147 321321321 123456123`;

const known = new Set([...KNOWN_PASSWORDS, ...DIGITS.split(/\s+/)]);

/**
 * Compared without case. Only the list counts: composition rules would refuse good passwords too.
 * @throws AppError `validation_error` for a password on the list.
 */
export function refuseKnownPassword(password: string, field: string): void {
  if (!known.has(password.toLowerCase())) return;
  const message = 'is one of the most common passwords; choose another';
  throw new AppError('validation_error', { details: [{ field, message }] });
}

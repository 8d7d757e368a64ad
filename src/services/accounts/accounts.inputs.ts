import { z } from 'zod';
import { characters } from '../../lib/characters.js';
import { timeConnectionInput } from '../../lib/connection-input.js';
import { addressInput, emailInput } from '../../lib/email-input.js';
import { changesSomething, label, NOTHING_TO_CHANGE, TRIMMED } from '../../lib/input-fields.js';
import { pageInput } from '../../lib/page-input.js';

const MIN_PASSWORD_LENGTH = 8;
const MAX_PASSWORD_LENGTH = 128;
/** Limit for passwords that are only compared. */
const MAX_COMPARED_LENGTH = 1024;

const EMAIL = 'Email address used to log in. Case-insensitive.';
/** For existing accounts. `ADMIN_EMAIL` may have created one with any host. */
const existingEmail = addressInput.describe(EMAIL);

/** Common passwords are checked only on the server (known-passwords.ts). */
const newPassword = z
  .string()
  .superRefine((password, context) => {
    const length = characters(password);
    if (length < MIN_PASSWORD_LENGTH || length > MAX_PASSWORD_LENGTH) {
      context.addIssue({
        code: 'custom',
        message: `must have ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters`,
      });
    }
  })
  .meta({
    description: 'Password of 8 to 128 characters. Common passwords are rejected.',
    minLength: MIN_PASSWORD_LENGTH,
    maxLength: MAX_PASSWORD_LENGTH,
  });

const comparedPassword = z.string().min(1).max(MAX_COMPARED_LENGTH).describe('The current password.');

export const signupInput = z
  .strictObject({
    email: emailInput.describe(EMAIL),
    password: newPassword,
    name: label(100).describe(`Display name, 1 to 100 characters. ${TRIMMED}`),
  })
  .meta({ id: 'Signup', description: 'The details of the new account.' });
export type SignupInput = z.infer<typeof signupInput>;

export const loginInput = z
  .strictObject({ email: existingEmail, password: comparedPassword })
  .meta({ id: 'Login', description: 'The credentials.' });
export type LoginInput = z.infer<typeof loginInput>;

export const forgotPasswordInput = z
  .strictObject({ email: existingEmail })
  .meta({ id: 'ForgotPassword', description: 'The email address of the account.' });
export type ForgotPasswordInput = z.infer<typeof forgotPasswordInput>;

export const resetPasswordInput = z
  .strictObject({
    token: z.string().min(1).max(128).describe('Token from the emailed link: the part after `#`.'),
    password: newPassword,
  })
  .meta({ id: 'ResetPassword', description: 'A new password and the token from the emailed link.' });
export type ResetPasswordInput = z.infer<typeof resetPasswordInput>;

export const changePasswordInput = z
  .strictObject({ current_password: comparedPassword, new_password: newPassword })
  .meta({ id: 'ChangePassword', description: 'The current password and the new one.' });
export type ChangePasswordInput = z.infer<typeof changePasswordInput>;

export const deleteAccountInput = z
  .strictObject({ password: comparedPassword })
  .meta({ id: 'DeleteAccount', description: 'The password, which confirms the deletion.' });
export type DeleteAccountInput = z.infer<typeof deleteAccountInput>;

export const listUsersInput = pageInput.extend({
  search: label(254)
    .optional()
    .describe(`Text to search for in email address and name. Case-insensitive. ${TRIMMED}`),
});
export type ListUsersInput = z.infer<typeof listUsersInput>;

export const usersConnectionInput = timeConnectionInput.extend({
  search: listUsersInput.shape.search.nullable(),
});
export type UsersConnectionInput = z.infer<typeof usersConnectionInput>;

export const updateUserInput = z
  .strictObject({
    plan: label(64)
      .describe(`The new plan. A paid plan grants its included credits once per month. ${TRIMMED}`)
      .optional(),
    status: z
      .enum(['active', 'disabled'])
      .optional()
      .describe(
        'Account status. Disabling an account ends its sessions and rejects its API keys within a second.',
      ),
    role: z
      .enum(['user', 'admin'])
      .describe("Account role. Changing it ends the account's sessions.")
      .optional(),
    expected_plan: label(64)
      .optional()
      .describe(
        'The plan that your change is based on. If the account has another one now, the request fails with 409 `changed_meanwhile` and changes nothing. Without it, the last change wins.',
      ),
  })
  .refine(changesSomething, NOTHING_TO_CHANGE)
  .meta({ id: 'UpdateUser', description: 'Changes to an account.', minProperties: 1 });
export type UpdateUserInput = z.infer<typeof updateUserInput>;

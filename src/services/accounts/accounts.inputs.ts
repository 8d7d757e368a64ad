import { z } from 'zod';
import { timeConnectionInput } from '../../lib/connection-input.js';
import { changesSomething, label, NOTHING_TO_CHANGE, TRIMMED } from '../../lib/input-fields.js';
import { pageInput } from '../../lib/page-input.js';
import { isCommonPassword } from './common-passwords.js';

const MIN_PASSWORD_LENGTH = 8;
const MAX_PASSWORD_LENGTH = 128;
/** RFC 5321. */
const MAX_EMAIL_LENGTH = 254;
/** A password that is only compared may be anything, within reason. */
const MAX_COMPARED_LENGTH = 1024;

/** The server knows more of them than a browser (known-passwords.ts). */
export const COMMON_PASSWORD = 'is one of the most common passwords; choose another';

const characters = (text: string): number => [...text].length;

const email = z
  .email({ error: 'must be a mail address' })
  .max(MAX_EMAIL_LENGTH)
  .describe('Mail address, the login identity; compared without case.');

const newPassword = z
  .string()
  .superRefine((password, context) => {
    const length = characters(password);
    if (length < MIN_PASSWORD_LENGTH || length > MAX_PASSWORD_LENGTH) {
      context.addIssue({
        code: 'custom',
        message: `must have ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters`,
      });
    } else if (isCommonPassword(password)) {
      context.addIssue({ code: 'custom', message: COMMON_PASSWORD });
    }
  })
  .meta({
    description: 'Password of 8 to 128 characters; the most common ones are refused.',
    minLength: MIN_PASSWORD_LENGTH,
    maxLength: MAX_PASSWORD_LENGTH,
  });

const comparedPassword = z.string().min(1).max(MAX_COMPARED_LENGTH).describe('The current password.');

export const signupInput = z
  .strictObject({
    email,
    password: newPassword,
    name: label(100).describe(`How the person is called; 1 to 100 characters. ${TRIMMED}`),
  })
  .meta({ id: 'Signup', description: 'Who signs up.' });
export type SignupInput = z.infer<typeof signupInput>;

export const loginInput = z
  .strictObject({ email, password: comparedPassword })
  .meta({ id: 'Login', description: 'Who logs in.' });
export type LoginInput = z.infer<typeof loginInput>;

export const forgotPasswordInput = z
  .strictObject({ email })
  .meta({ id: 'ForgotPassword', description: 'Whose password is forgotten.' });
export type ForgotPasswordInput = z.infer<typeof forgotPasswordInput>;

export const resetPasswordInput = z
  .strictObject({
    token: z.string().min(1).max(128).describe('What stands behind `#` in the link of the mail.'),
    password: newPassword,
  })
  .meta({ id: 'ResetPassword', description: 'A new password, and the proof that it may be set.' });
export type ResetPasswordInput = z.infer<typeof resetPasswordInput>;

export const changePasswordInput = z
  .strictObject({ current_password: comparedPassword, new_password: newPassword })
  .meta({ id: 'ChangePassword', description: 'A change of password.' });
export type ChangePasswordInput = z.infer<typeof changePasswordInput>;

export const deleteAccountInput = z
  .strictObject({ password: comparedPassword })
  .meta({ id: 'DeleteAccount', description: 'The proof that a deletion is meant.' });
export type DeleteAccountInput = z.infer<typeof deleteAccountInput>;

export const listUsersInput = pageInput.extend({
  search: label(254).optional().describe(`Looked for in mail and name, without case. ${TRIMMED}`),
});
export type ListUsersInput = z.infer<typeof listUsersInput>;

export const usersConnectionInput = timeConnectionInput.extend({
  search: listUsersInput.shape.search.nullable(),
});
export type UsersConnectionInput = z.infer<typeof usersConnectionInput>;

export const updateUserInput = z
  .strictObject({
    plan: label(64)
      .optional()
      .describe(
        `Plan to move to. A move to a paid plan grants its included credits, once per plan and month. ${TRIMMED}`,
      ),
    status: z
      .enum(['active', 'disabled'])
      .optional()
      .describe('A disabled account has no sessions and its keys are refused, within a second.'),
    role: z.enum(['user', 'admin']).optional().describe('A change ends the sessions of the account.'),
  })
  .refine(changesSomething, NOTHING_TO_CHANGE)
  .meta({ id: 'UpdateUser', description: 'A change of an account.', minProperties: 1 });
export type UpdateUserInput = z.infer<typeof updateUserInput>;

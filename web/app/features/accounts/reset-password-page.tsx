import { Button, PasswordInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useState } from 'react';
import { resetPasswordInput } from '../../../../src/services/accounts/accounts.inputs';
import { ResetPasswordDocument } from '../../../generated/graphql';
import { paths } from '../../paths';
import { ErrorNote } from '../../ui/error-note';
import { asSentence, schemaErrors } from '../../ui/form-errors';
import { Note } from '../../ui/note';
import { EntryLayout } from './entry-layout';
import { useEntry } from './use-entry';

/** An invalid token has no field in the form, so the page itself reports it. */
const isToken = (text: string): boolean => resetPasswordInput.shape.token.safeParse(text).success;

/** `/reset-password#token`, the target of the link in the mail. */
export function ResetPasswordPage(): ReactNode {
  // In the fragment, which no server or log sees; kept here, since the router may drop it.
  const [token] = useState(() => location.hash.slice(1));
  const { enter, error, sending } = useEntry(ResetPasswordDocument);
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { password: '' },
    validate: (values) => schemaErrors(resetPasswordInput)({ token, ...values }),
  });
  const send = form.onSubmit(async ({ password }) => {
    const failure = await enter({ token, password });
    if (failure?.fields.password) form.setFieldError('password', asSentence(failure.fields.password));
  });
  const again = <Link to={paths.forgotPassword}>Request a new link</Link>;
  if (!isToken(token) || error?.fields.token) {
    return (
      <EntryLayout title="Set a new password" lead={again}>
        <Note tone="warn">
          This link is no longer valid: it was already used, is older than 30 minutes, or is incomplete.
        </Note>
      </EntryLayout>
    );
  }
  return (
    <EntryLayout
      title="Set a new password"
      lead="This ends all sessions of your account and logs you in here."
    >
      <form noValidate onSubmit={send}>
        {error && Object.keys(error.fields).length === 0 && <ErrorNote error={error} />}
        <PasswordInput
          label="New password"
          description="8 to 128 characters"
          autoComplete="new-password"
          key={form.key('password')}
          {...form.getInputProps('password')}
        />
        <Button type="submit" loading={sending}>
          Set password
        </Button>
      </form>
    </EntryLayout>
  );
}

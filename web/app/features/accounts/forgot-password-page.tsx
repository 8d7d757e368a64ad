import { Button, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useState } from 'react';
import { useQuery } from 'urql';
import { forgotPasswordInput } from '../../../../src/services/accounts/accounts.inputs';
import { ForgotPasswordDocument, MailDocument } from '../../../generated/graphql';
import { useAction } from '../../graphql/use-action';
import { paths } from '../../paths';
import { ErrorNote } from '../../ui/error-note';
import { schemaErrors } from '../../ui/form-errors';
import { Note } from '../../ui/note';
import { EntryLayout } from './entry-layout';

/** `/forgot-password` */
export function ForgotPasswordPage(): ReactNode {
  const [{ data: installation }] = useQuery({ query: MailDocument });
  const { run, error, sending } = useAction(ForgotPasswordDocument, { asNobody: true });
  const [sent, setSent] = useState(false);
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { email: '' },
    validate: schemaErrors(forgotPasswordInput),
  });
  const send = form.onSubmit(async (input) => {
    const { data } = await run({ input });
    if (data) setSent(true);
  });
  const lead = <Link to={paths.login}>Back to login</Link>;
  if (installation?.installation?.mailConfigured === false) {
    return (
      <EntryLayout title="Forgot your password?" lead={lead}>
        <Note tone="plain">
          This installation doesn’t send email, so passwords can’t be reset. Ask its administrator for help.
        </Note>
      </EntryLayout>
    );
  }
  return (
    <EntryLayout title="Forgot your password?" lead={lead}>
      {sent ? (
        <Note tone="good">
          If an account has this address, we have sent it a link. The link works once, for 30 minutes. No
          email? Check your spam folder before you try again.
        </Note>
      ) : (
        <form noValidate onSubmit={send}>
          {error && <ErrorNote error={error} />}
          <TextInput
            label="Email"
            description="We will email you a link to set a new password"
            type="email"
            autoComplete="username"
            key={form.key('email')}
            {...form.getInputProps('email')}
          />
          <Button type="submit" loading={sending}>
            Send link
          </Button>
        </form>
      )}
    </EntryLayout>
  );
}

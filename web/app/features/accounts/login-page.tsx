import { Button, PasswordInput, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { Link, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { loginInput } from '../../../../src/services/accounts/accounts.inputs';
import { LogInDocument } from '../../../generated/graphql';
import outlines from '../../outlines.json';
import { paths } from '../../paths';
import { ErrorNote } from '../../ui/error-note';
import { schemaErrors } from '../../ui/form-errors';
import { Note } from '../../ui/note';
import { EntryLayout } from './entry-layout';
import { useEntry } from './use-entry';

const REASONS = {
  ended: 'Your session has ended. Log in to continue.',
  needed: 'Log in to see this page.',
} as const;

const { title, lead: outline } = outlines[paths.login];

/** `/login` */
export function LoginPage(): ReactNode {
  const { next, reason } = useSearch({ from: paths.login });
  const { enter, error, sending } = useEntry(LogInDocument);
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { email: '', password: '' },
    validate: schemaErrors(loginInput),
  });
  const [before, link, after] = outline;
  const lead = (
    <>
      {before}
      <Link to={paths.signup} search={next === undefined ? {} : { next }}>
        {link}
      </Link>
      {after}
    </>
  );
  return (
    <EntryLayout title={title} lead={lead}>
      <form noValidate onSubmit={form.onSubmit(async (values) => void (await enter(values)))}>
        {reason && !error && <Note tone="plain">{REASONS[reason]}</Note>}
        {error && <ErrorNote error={error} />}
        <TextInput
          label="Email"
          type="email"
          autoComplete="username"
          key={form.key('email')}
          {...form.getInputProps('email')}
        />
        <PasswordInput
          label="Password"
          autoComplete="current-password"
          key={form.key('password')}
          {...form.getInputProps('password')}
        />
        <Button type="submit" loading={sending}>
          Log in
        </Button>
        <Link to={paths.forgotPassword}>Forgot your password?</Link>
      </form>
    </EntryLayout>
  );
}

import { Button, PasswordInput, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { Link, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { signupInput } from '../../../../src/services/accounts/accounts.inputs';
import { SignUpDocument } from '../../../generated/graphql';
import outlines from '../../outlines.json';
import { paths } from '../../paths';
import { ErrorNote } from '../../ui/error-note';
import { asSentence, schemaErrors } from '../../ui/form-errors';
import { EntryLayout } from './entry-layout';
import { useEntry } from './use-entry';

const { title, lead: outline } = outlines[paths.signup];

/** `/signup` */
export function SignupPage(): ReactNode {
  const { next } = useSearch({ from: paths.signup });
  const { enter, error, sending } = useEntry(SignUpDocument);
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { name: '', email: '', password: '' },
    validate: schemaErrors(signupInput),
  });
  const send = form.onSubmit(async (values) => {
    const failure = await enter(values);
    for (const [field, message] of Object.entries(failure?.fields ?? {})) {
      form.setFieldError(field, asSentence(message));
    }
  });
  const [before, link, after] = outline;
  const lead = (
    <>
      {before}
      <Link to={paths.login} search={next === undefined ? {} : { next }}>
        {link}
      </Link>
      {after}
    </>
  );
  return (
    <EntryLayout title={title} lead={lead}>
      <form noValidate onSubmit={send}>
        {error && Object.keys(error.fields).length === 0 && <ErrorNote error={error} />}
        <TextInput
          label="Name"
          type="text"
          autoComplete="name"
          key={form.key('name')}
          {...form.getInputProps('name')}
        />
        <TextInput
          label="Email"
          type="email"
          autoComplete="username"
          key={form.key('email')}
          {...form.getInputProps('email')}
        />
        <PasswordInput
          label="Password"
          description="8 to 128 characters"
          autoComplete="new-password"
          key={form.key('password')}
          {...form.getInputProps('password')}
        />
        <Button type="submit" loading={sending}>
          Create account
        </Button>
      </form>
    </EntryLayout>
  );
}

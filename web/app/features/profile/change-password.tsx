import { Button, PasswordInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { changePasswordInput } from '../../../../src/services/accounts/accounts.inputs';
import { ChangePasswordDocument } from '../../../generated/graphql';
import { useAction } from '../../graphql/use-action';
import { ErrorNote } from '../../ui/error-note';
import { asSentence, schemaErrors } from '../../ui/form-errors';
import { Note } from '../../ui/note';
import classes from './profile.module.css';

const check = schemaErrors(changePasswordInput);

const WRONG_PASSWORD = 'invalid_credentials';

/** Changes the password, which ends all other sessions. */
export function ChangePassword({ email }: { email: string | undefined }) {
  const { run, error, sending } = useAction(ChangePasswordDocument);
  const [changed, setChanged] = useState(false);
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { currentPassword: '', newPassword: '' },
    validate: ({ currentPassword, newPassword }) => {
      const faults = check({ current_password: currentPassword, new_password: newPassword });
      return { currentPassword: faults.current_password, newPassword: faults.new_password };
    },
  });
  const send = form.onSubmit(async (input) => {
    setChanged(false);
    const { data, error: refused } = await run({ input });
    if (data) {
      form.reset();
      setChanged(true);
    }
    if (refused?.code === WRONG_PASSWORD) {
      form.setFieldError('currentPassword', 'The current password is wrong.');
    }
    for (const [field, message] of Object.entries(refused?.fields ?? {})) {
      form.setFieldError(field === 'newPassword' ? field : 'currentPassword', asSentence(message));
    }
  });
  return (
    <form noValidate className={classes.form} onSubmit={send}>
      {error && error.code !== WRONG_PASSWORD && Object.keys(error.fields).length === 0 && (
        <ErrorNote error={error} />
      )}
      {changed && <Note tone="good">Your password was changed, and all other sessions have ended.</Note>}
      {/* For password managers: the account of the password. */}
      <input type="email" hidden readOnly autoComplete="username" value={email ?? ''} />
      {/* Text that is typed while it is sent would be lost with the answer. */}
      <PasswordInput
        label="Current password"
        autoComplete="current-password"
        readOnly={sending}
        key={form.key('currentPassword')}
        {...form.getInputProps('currentPassword')}
      />
      <PasswordInput
        label="New password"
        description="8 to 128 characters"
        autoComplete="new-password"
        readOnly={sending}
        key={form.key('newPassword')}
        {...form.getInputProps('newPassword')}
      />
      <div>
        <Button type="submit" loading={sending}>
          Change password
        </Button>
      </div>
    </form>
  );
}

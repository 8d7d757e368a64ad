import { Button, PasswordInput, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { DeleteAccountDocument } from '../../../generated/graphql';
import { useAction } from '../../graphql/use-action';
import { paths } from '../../paths';
import { endSession } from '../../session';
import { Dialog, DialogActions } from '../../ui/dialog';
import { ErrorNote } from '../../ui/error-note';
import classes from './profile.module.css';

/** Deletes the account, after asking for email address and password. */
export function DeleteAccount({ email }: { email: string | undefined }) {
  const [opened, setOpened] = useState(false);
  return (
    <>
      <p className={classes.text}>
        Ends all sessions, deletes all keys, prompts, playground sessions and widgets, and erases your
        personal data. The remaining balance is lost. Ledger and usage are kept without your name and email
        address.
      </p>
      <div>
        <Button variant="default" onClick={() => setOpened(true)}>
          Delete account
        </Button>
      </div>
      <Dialog opened={opened} onClose={() => setOpened(false)} title="Delete your account?">
        {email !== undefined && <Confirmation email={email} onCancel={() => setOpened(false)} />}
      </Dialog>
    </>
  );
}

function Confirmation({ email, onCancel }: { email: string; onCancel(): void }) {
  const navigate = useNavigate();
  const { run, error, sending } = useAction(DeleteAccountDocument);
  const [typed, setTyped] = useState('');
  const [password, setPassword] = useState('');
  const meant = typed.trim().toLowerCase() === email.toLowerCase() && password !== '';
  const send = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (!meant) return;
    const { data } = await run({ input: { password } });
    if (!data) return;
    endSession();
    await navigate({ to: paths.signup, search: {} });
  };
  return (
    <form noValidate onSubmit={(event) => void send(event)}>
      {error && <ErrorNote error={error} />}
      <p>
        Account <strong>{email}</strong>: calls with its keys will fail with 401 immediately, and its balance
        will be lost. This can’t be undone.
      </p>
      <TextInput
        label="Type the email address of the account"
        data-autofocus
        autoComplete="off"
        value={typed}
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      />
      <PasswordInput
        label="Password"
        autoComplete="current-password"
        value={password}
        onChange={({ currentTarget }) => setPassword(currentTarget.value)}
      />
      <DialogActions>
        <Button type="submit" color="red" loading={sending} disabled={!meant}>
          Delete account
        </Button>
        <Button variant="default" onClick={onCancel}>
          Keep it
        </Button>
      </DialogActions>
    </form>
  );
}

import { Button } from '@mantine/core';
import { useState } from 'react';
import {
  DisableUserDocument,
  EnableUserDocument,
  SetUserRoleDocument,
  type UserRowFragment,
} from '../../../generated/graphql';
import type { ShownError } from '../../graphql/errors';
import { useAction } from '../../graphql/use-action';
import { ConfirmDialog } from '../../ui/confirm-dialog';
import { asSentence } from '../../ui/form-errors';
import { Section } from '../../ui/section';
import classes from './admin.module.css';

type Act = 'disable' | 'enable' | 'promote' | 'demote';

const ACTS: Record<Act, { button: string; title(email: string): string; does: string; danger: boolean }> = {
  disable: {
    button: 'Disable account',
    title: (email) => `Disable ${email}?`,
    does: 'Within a second its sessions end, its keys fail with 401 and its widgets with 404. Nothing is deleted; you can enable it again.',
    danger: true,
  },
  enable: {
    button: 'Enable account',
    title: (email) => `Enable ${email}?`,
    does: 'Its keys and widgets work again, and its owner can log in.',
    danger: false,
  },
  promote: {
    button: 'Make administrator',
    title: (email) => `Make ${email} an administrator?`,
    does: 'Administrators see all accounts and node addresses, and change plans, balances and roles. The account’s sessions end; its owner logs in again.',
    danger: true,
  },
  demote: {
    button: 'Remove administrator role',
    title: (email) => `Remove the administrator role of ${email}?`,
    does: 'The account’s sessions end at once. It keeps its keys, credit and plan.',
    danger: true,
  },
};

/** Sets the status and the role of an account. */
export function UserAccess({ user, isSelf }: { user: UserRowFragment; isSelf: boolean }) {
  const disable = useAction(DisableUserDocument);
  const enable = useAction(EnableUserDocument);
  const role = useAction(SetUserRoleDocument);
  const [asked, setAsked] = useState<Act>();
  const { id } = user;
  const runs: Record<Act, () => Promise<{ error?: ShownError }>> = {
    disable: () => disable.run({ input: { id } }),
    enable: () => enable.run({ input: { id } }),
    promote: () => role.run({ input: { id, role: 'ADMIN' } }),
    demote: () => role.run({ input: { id, role: 'USER' } }),
  };
  const error = disable.error ?? enable.error ?? role.error;
  const ask = (act: Act): void => {
    for (const action of [disable, enable, role]) action.forget();
    setAsked(act);
  };
  const send = async (): Promise<void> => {
    const refused = (await runs[asked!]()).error;
    if (!refused) setAsked(undefined);
  };
  const button = (act: Act) => (
    <Button variant="default" onClick={() => ask(act)}>
      {ACTS[act].button}
    </Button>
  );
  return (
    <Section title="Access">
      {isSelf ? (
        <p className={classes.hint}>This is your account: you can’t disable or demote it yourself.</p>
      ) : (
        <div className={classes.row}>
          {button(user.status === 'ACTIVE' ? 'disable' : 'enable')}
          {button(user.role === 'ADMIN' ? 'demote' : 'promote')}
        </div>
      )}
      {asked && (
        <ConfirmDialog
          title={ACTS[asked].title(user.email)}
          onClose={() => setAsked(undefined)}
          action={ACTS[asked].button}
          onConfirm={() => void send()}
          sending={disable.sending || enable.sending || role.sending}
          error={error && withFields(error)}
          danger={ACTS[asked].danger}
        >
          <p>{ACTS[asked].does}</p>
        </ConfirmDialog>
      )}
    </Section>
  );
}

/** Adds the errors of fields to the message: there are no fields to show them at. */
function withFields(error: ShownError): ShownError {
  const [field, fault] = Object.entries(error.fields)[0] ?? [];
  return field === undefined ? error : { ...error, message: `${asSentence(field)} ${fault}.` };
}

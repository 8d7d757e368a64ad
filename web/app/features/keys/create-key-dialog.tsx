import { Button, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { createKeyInput } from '../../../../src/services/keys/keys.inputs';
import { CreateKeyDocument } from '../../../generated/graphql';
import { useAction } from '../../graphql/use-action';
import { DialogActions } from '../../ui/dialog';
import { useDraft } from '../../ui/draft';
import { ErrorNote } from '../../ui/error-note';
import { asSentence, schemaErrors } from '../../ui/form-errors';
import { SecretDialog } from '../../ui/secret-dialog';
import { Snippets } from './snippets';

const check = schemaErrors(createKeyInput);

interface CreateKeyDialogProps {
  opened: boolean;
  onClose(): void;
}

/** Creates a key and shows it once. */
export function CreateKeyDialog({ opened, onClose }: CreateKeyDialogProps) {
  const [secret, setSecret] = useState<string>();
  const leave = (): void => {
    onClose();
    setSecret(undefined);
  };
  return (
    <SecretDialog
      opened={opened}
      onClose={leave}
      titles={{ before: 'Create an API key', made: 'Key created' }}
      secret={secret}
      what="key"
      form={<NameForm onMade={setSecret} onCancel={leave} />}
    >
      <Snippets secret={secret} />
    </SecretDialog>
  );
}

function NameForm({ onMade, onCancel }: { onMade(secret: string): void; onCancel(): void }) {
  const { run, error, sending } = useAction(CreateKeyDocument);
  const [name = '', change, forget] = useDraft('name of a new key');
  const [fault, setFault] = useState<string>();
  const send = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const { name: wrong } = check({ name });
    setFault(wrong);
    if (wrong) return;
    const { data } = await run({ input: { name } });
    if (!data) return;
    forget();
    onMade(data.createApiKey.key);
  };
  const refused = error?.fields.name;
  return (
    <form noValidate onSubmit={(event) => void send(event)}>
      {error && !refused && <ErrorNote error={error} />}
      <TextInput
        label="Name"
        description="What will use this key: a service, a person, a machine"
        data-autofocus
        autoComplete="off"
        value={name}
        onChange={({ currentTarget }) => change(currentTarget.value)}
        error={fault ?? (refused && asSentence(refused))}
      />
      <DialogActions>
        <Button type="submit" loading={sending}>
          Create key
        </Button>
        <Button variant="default" onClick={onCancel}>
          Cancel
        </Button>
      </DialogActions>
    </form>
  );
}

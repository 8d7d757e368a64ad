import { Button, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { createKeyInput } from '../../../../src/services/keys/keys.inputs';
import { CreateKeyDocument } from '../../../generated/graphql';
import { useAction } from '../../graphql/use-action';
import { Dialog, DialogActions } from '../../ui/dialog';
import { useDraft } from '../../ui/draft';
import { ErrorNote } from '../../ui/error-note';
import { asSentence, schemaErrors } from '../../ui/form-errors';
import { Note } from '../../ui/note';
import { SecretOnce } from './secret-once';
import { Snippets } from './snippets';

const check = schemaErrors(createKeyInput);

interface CreateKeyDialogProps {
  opened: boolean;
  onClose(): void;
}

/** Makes a key and shows it once; closing before it was copied asks first. */
export function CreateKeyDialog({ opened, onClose }: CreateKeyDialogProps) {
  const [secret, setSecret] = useState<string>();
  const [copied, setCopied] = useState(false);
  const [asked, setAsked] = useState(false);
  const leave = (): void => {
    onClose();
    setSecret(undefined);
    setCopied(false);
    setAsked(false);
  };
  const close = (): void => {
    if (secret === undefined || copied || asked) leave();
    else setAsked(true);
  };
  return (
    <Dialog
      opened={opened}
      onClose={close}
      title={secret ? 'The key is made' : 'Create an API key'}
      wide={secret !== undefined}
    >
      {secret === undefined ? (
        <NameForm onMade={setSecret} onCancel={leave} />
      ) : (
        <>
          {asked && (
            <Note tone="warn">
              The key has not been copied. Once this is closed nobody can show it again; close once more to go
              on without it.
            </Note>
          )}
          <SecretOnce
            secret={secret}
            onCopied={() => {
              setCopied(true);
              setAsked(false);
            }}
          />
          <Snippets secret={secret} />
          <DialogActions>
            <Button onClick={leave}>I saved it</Button>
          </DialogActions>
        </>
      )}
    </Dialog>
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
        description="What will call with it: a service, a person, a machine"
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

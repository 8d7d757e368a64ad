import { Button, NativeSelect } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { AlertKeysDocument } from '../../../generated/graphql';
import { usePageQuery } from '../../graphql/use-page-query';
import { paths } from '../../paths';
import { ButtonLink } from '../../ui/button-link';
import { Dialog, DialogActions } from '../../ui/dialog';
import { LoadError } from '../../ui/load-error';
import { Note } from '../../ui/note';
import { Waiting } from '../../ui/waiting';
import { openLimit } from '../keys/limit-draft';
import { CreateAlert } from './create-alert';

interface CreateAnyAlertProps {
  /** The chosen key; undefined: no key yet. */
  keyId: string | undefined;
  opened: boolean;
  onChoose(keyId: string): void;
  onClose(): void;
  /** See `CreateAlert`. */
  onMaking(isMaking: boolean): void;
}

/** Creates a subscription for any key: asks for the key first. */
export function CreateAnyAlert({ keyId, opened, onChoose, onClose, onMaking }: CreateAnyAlertProps) {
  const { data, error, refresh } = usePageQuery({
    query: AlertKeysDocument,
    variables: {},
    touches: ['ApiKey', 'DeleteApiKeyPayload'],
  });
  const [chosen, setChosen] = useState<string>();
  const keys = data?.viewer?.apiKeys.nodes;
  const key =
    keys?.find(({ id }) => id === (keyId ?? chosen)) ?? keys?.find((one) => one.monthlyLimitUsd) ?? keys?.[0];
  if (keyId !== undefined && key?.id === keyId && key.monthlyLimitUsd) {
    return (
      <CreateAlert
        apiKey={key}
        limitUsd={key.monthlyLimitUsd}
        email={data?.viewer?.email ?? ''}
        mailConfigured={data?.installation?.mailConfigured ?? true}
        opened={opened}
        onClose={onClose}
        onMaking={onMaking}
      />
    );
  }
  return (
    <Dialog opened={opened} onClose={onClose} title="Create an alert">
      {error && <LoadError error={error} onRetry={refresh} />}
      {!keys && !error && <Waiting height={96} />}
      {keys?.length === 0 && (
        <Note
          tone="plain"
          action={
            <ButtonLink size="xs" variant="default" to={paths.keys} search={{ create: true }}>
              Create key
            </ButtonLink>
          }
        >
          Alerts monitor the spend of a key, and you have no keys yet.
        </Note>
      )}
      {key && (
        <NativeSelect
          label="Key"
          data-autofocus
          data={keys!.map(({ id, name }) => ({ value: id, label: name }))}
          value={key.id}
          onChange={({ currentTarget }) => setChosen(currentTarget.value)}
        />
      )}
      {key && !key.monthlyLimitUsd && (
        <Note tone="warn">
          This key has no monthly limit, which alerts refer to.{' '}
          <Link
            to={paths.key}
            params={{ keyId: key.id }}
            search={{ tab: 'caps' }}
            onClick={() => openLimit(key.id)}
          >
            Set a monthly limit
          </Link>
        </Note>
      )}
      <DialogActions>
        <Button disabled={!key?.monthlyLimitUsd} onClick={() => key && onChoose(key.id)}>
          Continue
        </Button>
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
      </DialogActions>
    </Dialog>
  );
}

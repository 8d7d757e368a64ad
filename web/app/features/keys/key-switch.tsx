import '@mantine/core/styles/InlineInput.css';
import '@mantine/core/styles/Switch.css';
import { Button, Switch } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useQuery } from 'urql';
import { callsStopped } from '../../../../src/lib/money-parts';
import {
  DisableKeyDocument,
  EnableKeyDocument,
  type KeyRowFragment,
  ViewerDocument,
} from '../../../generated/graphql';
import { useAction } from '../../graphql/use-action';
import { paths } from '../../paths';
import { useCanTopUp } from '../../shell/use-outlook';
import { ErrorNote } from '../../ui/error-note';
import { useUnread } from '../../ui/unread';
import { callsText } from './key-facts';
import classes from './keys.module.css';

/** Enables or disables a key, without a confirmation, since it can be undone. */
export function KeySwitch({ apiKey }: { apiKey: KeyRowFragment }) {
  const { id, status } = apiKey;
  const disable = useAction(DisableKeyDocument);
  const enable = useAction(EnableKeyDocument);
  const [changed, setChanged] = useState(false);
  const [unread, noteSaved] = useUnread(status);
  const active = (unread ?? status) === 'ACTIVE';
  const isWaiting = disable.sending || enable.sending || unread !== undefined;
  const error = disable.error ?? enable.error;
  const set = async (on: boolean): Promise<void> => {
    disable.forget();
    const { data } = await (on ? enable : disable).run({ input: { id } });
    if (!data) return;
    setChanged(!on);
    noteSaved(on ? 'ACTIVE' : 'DISABLED');
  };
  return (
    <div className={classes.switch}>
      <Switch
        label={active ? 'Active' : 'Disabled'}
        aria-label="Key is active"
        checked={active}
        disabled={isWaiting}
        onChange={({ currentTarget }) => void set(currentTarget.checked)}
      />
      {/* Always rendered, so that nothing moves when the switch is used. */}
      <p role="status" className={classes.switched}>
        <span>{active ? <CallsText apiKey={apiKey} /> : 'Calls with this key fail with 401.'}</span>
        <Button
          size="xs"
          variant="subtle"
          disabled={isWaiting}
          onClick={() => void set(true)}
          style={{ visibility: changed && !active ? 'visible' : 'hidden' }}
        >
          Undo
        </Button>
      </p>
      {error && <ErrorNote error={error} />}
    </div>
  );
}

/** What happens to calls with an active key. The edge checks the balance first, which the header has loaded. */
function CallsText({ apiKey }: { apiKey: KeyRowFragment }): ReactNode {
  const [{ data }] = useQuery({ query: ViewerDocument });
  const canTopUp = useCanTopUp();
  if (!data?.viewer || !callsStopped(data.viewer.balanceUsd)) return callsText(apiKey);
  return (
    <>
      The balance is used up: calls fail with 402.{' '}
      <Link to={paths.billing}>{canTopUp === false ? 'Open billing' : 'Add credit'}</Link>
    </>
  );
}

import { Button } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from 'urql';
import { ViewerDocument } from '../../generated/graphql';
import { hasRefusedClick } from '../refused-click';
import { Note } from '../ui/note';
import classes from './app-layout.module.css';

/** Says that the last click was for another account, and that nothing came of it. */
export function OtherAccount() {
  const [shown, setShown] = useState(hasRefusedClick);
  const [{ data }] = useQuery({ query: ViewerDocument });
  const email = data?.viewer?.email;
  if (!shown || !email) return null;
  return (
    <div className={classes.banner}>
      <Note
        tone="warn"
        action={
          <Button size="xs" variant="default" onClick={() => setShown(false)}>
            Close
          </Button>
        }
      >
        <strong>Nothing was done.</strong> Another tab has logged in as <em>{email}</em>, and this tab showed
        another account until now.
      </Note>
    </div>
  );
}

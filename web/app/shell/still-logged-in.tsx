import { Button } from '@mantine/core';
import { Note } from '../ui/note';
import classes from './app-layout.module.css';
import { useLogOut, useLogOutFailure } from './use-log-out';

/** Warns that a log-out failed: leaving the computer would leave the account open. */
export function StillLoggedIn() {
  const failure = useLogOutFailure();
  const logOut = useLogOut();
  if (!failure) return null;
  return (
    <div className={classes.banner}>
      <Note
        tone="bad"
        action={
          <Button size="xs" variant="default" onClick={() => void logOut()}>
            Log out again
          </Button>
        }
      >
        <strong>You are still logged in.</strong> {failure.message}
      </Note>
    </div>
  );
}

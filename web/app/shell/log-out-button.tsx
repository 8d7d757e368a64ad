import { Button } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useMutation } from 'urql';
import { LogOutDocument } from '../../generated/graphql';
import { paths } from '../paths';
import { renewSession } from '../session';

/** Ends the session everywhere that it is used. */
export function LogOutButton() {
  const navigate = useNavigate();
  const [{ fetching }, logOut] = useMutation(LogOutDocument);
  const leave = async (): Promise<void> => {
    await logOut({});
    renewSession();
    await navigate({ to: paths.login, search: {} });
  };
  return (
    <Button variant="subtle" size="xs" loading={fetching} onClick={() => void leave()}>
      Log out
    </Button>
  );
}

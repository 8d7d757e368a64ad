import { useNavigate } from '@tanstack/react-router';
import { useMutation } from 'urql';
import { LogOutDocument } from '../../generated/graphql';
import { paths } from '../paths';
import { endSession } from '../session';

/** Ends the session everywhere that it is used, and goes to the log-in. */
export function useLogOut(): () => Promise<void> {
  const navigate = useNavigate();
  const [, logOut] = useMutation(LogOutDocument);
  return async () => {
    await logOut({});
    endSession();
    await navigate({ to: paths.login, search: {} });
  };
}

import { ActionIcon } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { LogOutIcon, SettingsIcon, UserIcon } from 'lucide-react';
import { useQuery } from 'urql';
import { ViewerDocument } from '../../generated/graphql';
import { paths } from '../paths';
import { Menu } from '../ui/menu';
import { useLogOut } from './use-log-out';

/** The menu of the signed-in account, with the log-out. */
export function AccountMenu() {
  const [{ data }] = useQuery({ query: ViewerDocument });
  const logOut = useLogOut();
  return (
    <Menu
      button={(of) => (
        <ActionIcon variant="subtle" color="gray" size={32} aria-label="Account" {...of}>
          <UserIcon size={18} strokeWidth={1.5} />
        </ActionIcon>
      )}
      head={
        data?.viewer && (
          <>
            {data.viewer.email}
            <br />
            Plan {data.viewer.plan.name}
          </>
        )
      }
      items={(of) => (
        <>
          <Link to={paths.profile} {...of}>
            <SettingsIcon size={16} strokeWidth={1.5} aria-hidden="true" />
            Profile
          </Link>
          <button type="button" {...of} onClick={() => void logOut()}>
            <LogOutIcon size={16} strokeWidth={1.5} aria-hidden="true" />
            Log out
          </button>
        </>
      )}
    />
  );
}

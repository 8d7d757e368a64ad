import { ActionIcon, Menu } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { LogOutIcon, SettingsIcon, UserIcon } from 'lucide-react';
import { useQuery } from 'urql';
import { ViewerDocument } from '../../generated/graphql';
import { paths } from '../paths';
import { useLogOut } from './use-log-out';

/** Who is signed in, and the way out. */
export function AccountMenu() {
  const [{ data }] = useQuery({ query: ViewerDocument });
  const logOut = useLogOut();
  return (
    // The placeholder for the first focus would be a child of the menu without a role.
    <Menu position="bottom-end" width={240} withInitialFocusPlaceholder={false}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size={32} aria-label="Account">
          <UserIcon size={18} strokeWidth={1.5} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {data?.viewer && (
          <Menu.Label>
            {data.viewer.email}
            <br />
            Plan {data.viewer.plan.name}
          </Menu.Label>
        )}
        <Menu.Item
          component={Link}
          to={paths.profile}
          leftSection={<SettingsIcon size={16} strokeWidth={1.5} />}
        >
          Profile
        </Menu.Item>
        <Menu.Item leftSection={<LogOutIcon size={16} strokeWidth={1.5} />} onClick={() => void logOut()}>
          Log out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

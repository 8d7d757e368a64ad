import { useMantineColorScheme } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { isRequestId } from '../features/usage/request-id';
import { paths } from '../paths';
import type { Command } from './command-palette.rules';
import { navigationFor } from './navigation';
import { useIsAdmin } from './use-is-admin';
import { useLogOut } from './use-log-out';
import { useCanTopUp } from './use-outlook';

/** The commands of the palette: every page, the themes, the log-out. */
export function useCommands(): Command[] {
  const navigate = useNavigate();
  const { setColorScheme } = useMantineColorScheme();
  const logOut = useLogOut();
  const isAdmin = useIsAdmin();
  const canTopUp = useCanTopUp();
  const destinations = navigationFor(isAdmin).flatMap((group) => group.destinations);
  const pages = destinations.map(
    ({ label, to, href }): Command => ({
      label: `Go to ${label}`,
      run: () => (to === undefined ? location.assign(href!) : void navigate({ to })),
    }),
  );
  const acts: Command[] = [
    {
      label: 'Create an API key',
      words: 'new, add, secret',
      run: () => void navigate({ to: paths.keys, search: { create: true } }),
    },
    ...(canTopUp === false
      ? []
      : [
          {
            label: 'Add credit',
            words: 'top, up, balance, pay',
            run: () => void navigate({ to: paths.billing, search: {} }),
          },
        ]),
    {
      label: 'Create a prompt',
      words: 'new, add, template',
      run: () => void navigate({ to: paths.newPrompt, search: {} }),
    },
    {
      label: 'Create a widget',
      words: 'new, add, chat',
      run: () => void navigate({ to: paths.widget, params: { widgetId: 'new' } }),
    },
    {
      label: 'Create an alert',
      words: 'new, add, webhook, email, limit',
      run: () => void navigate({ to: paths.alerts, search: { new_alert: true } }),
    },
    {
      label: 'Run a prompt',
      words: 'ask, compare, try, playground',
      run: () => void navigate({ to: paths.playground, search: {} }),
    },
    {
      label: 'Show the call with this request ID',
      takes: isRequestId,
      run: (id) => void navigate({ to: paths.usage, search: { call: id.toLowerCase() } }),
    },
    {
      label: 'Show failed calls',
      words: 'errors, usage, log',
      run: () => void navigate({ to: paths.usage, search: { status: 'error' } }),
    },
  ];
  const adminActs: Command[] = [
    {
      label: 'Register a node',
      words: 'new, add, gpu, machine',
      run: () => void navigate({ to: paths.newNode }),
    },
  ];
  const themes = (['light', 'dark', 'auto'] as const).map(
    (scheme): Command => ({
      label: `Theme: ${scheme === 'auto' ? 'system' : scheme}`,
      words: 'colour, appearance, mode',
      run: () => setColorScheme(scheme),
    }),
  );
  return [
    ...pages,
    ...acts,
    ...(isAdmin ? adminActs : []),
    ...themes,
    { label: 'Log out', words: 'sign, leave', run: () => void logOut() },
  ];
}

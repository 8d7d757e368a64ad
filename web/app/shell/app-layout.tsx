import { Outlet } from '@tanstack/react-router';
import { LiveUsage } from '../graphql/live-usage';
import { Brand } from '../ui/brand';
import { ThemeSwitch } from '../ui/theme-switch';
import { AccountMenu } from './account-menu';
import classes from './app-layout.module.css';
import { Balance } from './balance';
import { CommandButton } from './command-button';
import { SideNavigation } from './side-navigation';

/** Around every page of somebody who is signed in. */
export function AppLayout() {
  return (
    <LiveUsage>
      <div className={classes.page}>
        <header className={classes.header}>
          <Brand />
          <div className={classes.tools}>
            <Balance />
            <CommandButton />
            <ThemeSwitch />
            <AccountMenu />
          </div>
        </header>
        <SideNavigation />
        <main id="main" tabIndex={-1} className={classes.main}>
          <Outlet />
        </main>
      </div>
    </LiveUsage>
  );
}

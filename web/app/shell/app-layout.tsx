import { Outlet } from '@tanstack/react-router';
import { LiveAlerts } from '../graphql/live-alerts';
import { LiveUsage } from '../graphql/live-usage';
import { Brand } from '../ui/brand';
import { ThemeSwitch } from '../ui/theme-switch';
import { AccountMenu } from './account-menu';
import { AlertBanner } from './alert-banner';
import classes from './app-layout.module.css';
import { Balance } from './balance';
import { CommandButton } from './command-button';
import { SideNavigation } from './side-navigation';

/** Around every page of somebody who is signed in. */
export function AppLayout() {
  return (
    <LiveUsage>
      <LiveAlerts>
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
            <AlertBanner />
            <Outlet />
          </main>
        </div>
      </LiveAlerts>
    </LiveUsage>
  );
}

import { Outlet } from '@tanstack/react-router';
import { Brand } from '../ui/brand';
import { ThemeSwitch } from '../ui/theme-switch';
import classes from './app-layout.module.css';
import { BalanceLink } from './balance-link';
import { LogOutButton } from './log-out-button';

/** Around every page of somebody who is signed in. */
export function AppLayout() {
  return (
    <div className={classes.page}>
      <header className={classes.header}>
        <Brand />
        <div className={classes.tools}>
          <BalanceLink />
          <ThemeSwitch />
          <LogOutButton />
        </div>
      </header>
      <main id="main" tabIndex={-1} className={classes.main}>
        <Outlet />
      </main>
    </div>
  );
}

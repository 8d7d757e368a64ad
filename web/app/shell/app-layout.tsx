import { Outlet } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useEffect } from 'react';
import { useQuery } from 'urql';
import { ViewerDocument } from '../../generated/graphql';
import { LiveAccount } from '../graphql/live-account';
import { LiveAlerts } from '../graphql/live-alerts';
import { LiveUsage } from '../graphql/live-usage';
import { fetchPagesWhenIdle } from '../lazy-page';
import { Brand } from '../ui/brand';
import { SimulatedModels } from '../ui/simulated';
import { ThemeSwitch } from '../ui/theme-switch';
import { AccountMenu } from './account-menu';
import { AlertBanner } from './alert-banner';
import classes from './app-layout.module.css';
import { Balance } from './balance';
import { CommandButton } from './command-button';
import { useFirstView } from './first-view';
import { FreshnessNote } from './freshness-note';
import { OtherAccount } from './other-account';
import { SideNavigation } from './side-navigation';
import { StillLoggedIn } from './still-logged-in';
import { StoppedBar } from './stopped-bar';

const NONE: readonly string[] = [];

/** Header and navigation around every page for signed-in users. */
export function AppLayout(): ReactNode {
  return useFirstView() && <Frame />;
}

function Frame() {
  const [{ data }] = useQuery({ query: ViewerDocument });
  const isAdmin = data?.viewer?.role === 'ADMIN';
  useEffect(() => fetchPagesWhenIdle(isAdmin), [isAdmin]);
  return (
    <SimulatedModels value={data?.installation?.simulatedModels ?? NONE}>
      <LiveUsage>
        <LiveAlerts>
          <LiveAccount>
            <div className={classes.page}>
              <header className={classes.header}>
                <Brand />
                <div className={classes.tools}>
                  <FreshnessNote />
                  <Balance />
                  <CommandButton />
                  <ThemeSwitch />
                  <AccountMenu />
                </div>
              </header>
              <SideNavigation />
              <main id="main" tabIndex={-1} className={classes.main}>
                <OtherAccount />
                <StillLoggedIn />
                <StoppedBar />
                <AlertBanner />
                <Outlet />
              </main>
            </div>
          </LiveAccount>
        </LiveAlerts>
      </LiveUsage>
    </SimulatedModels>
  );
}

import { createRootRoute, createRoute, redirect } from '@tanstack/react-router';
import { lazyPage } from '../lazy-page';
import { paths } from '../paths';
import { hasSeenViewer, loadViewer } from '../session';
import { ErrorPage } from '../shell/error-page';
import { RootLayout } from '../shell/root-layout';
import { holdsPage } from '../ui/held-secret';

export const root = createRootRoute({
  component: RootLayout,
  errorComponent: ErrorPage,
});

/** Wraps the pages for signed-in users; leads everybody else to the log-in. */
export const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  async beforeLoad({ location }) {
    const wasSignedIn = hasSeenViewer();
    const viewer = await loadViewer();
    const isHeld = holdsPage(viewer === null);
    if (viewer || isHeld) return;
    const reason = wasSignedIn ? 'ended' : 'needed';
    throw redirect({ to: paths.login, search: { next: location.href, reason }, replace: true });
  },
  component: lazyPage(() => import('../shell/app-layout'), 'AppLayout'),
  errorComponent: ErrorPage,
});

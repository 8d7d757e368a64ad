import { createRoute, redirect } from '@tanstack/react-router';
import { lazyEntryPage } from '../lazy-page';
import { paths, safeNext } from '../paths';
import { loadViewer } from '../session';
import { ErrorPage } from '../shell/error-page';
import { root } from './base';

interface EntrySearch {
  /** The page that was requested before the log-in. */
  next?: string;
  /** Why the log-in is shown instead of the requested page. */
  reason?: 'ended' | 'needed';
}

const entrySearch = ({ next, reason }: Record<string, unknown>): EntrySearch => ({
  ...(typeof next === 'string' && { next }),
  ...((reason === 'ended' || reason === 'needed') && { reason }),
});

const sendSignedInOn = async ({ search }: { search: EntrySearch }): Promise<void> => {
  // Only a courtesy: the form works without knowing who is signed in.
  const viewer = await loadViewer().catch(() => null);
  if (viewer) throw redirect({ href: safeNext(search.next), replace: true });
};

const login = createRoute({
  getParentRoute: () => root,
  path: paths.login,
  validateSearch: entrySearch,
  beforeLoad: sendSignedInOn,
  component: lazyEntryPage(() => import('../features/accounts/login-page'), 'LoginPage'),
  errorComponent: ErrorPage,
});

const signup = createRoute({
  getParentRoute: () => root,
  path: paths.signup,
  validateSearch: entrySearch,
  beforeLoad: sendSignedInOn,
  component: lazyEntryPage(() => import('../features/accounts/signup-page'), 'SignupPage'),
  errorComponent: ErrorPage,
});

const forgotPassword = createRoute({
  getParentRoute: () => root,
  path: paths.forgotPassword,
  component: lazyEntryPage(() => import('../features/accounts/forgot-password-page'), 'ForgotPasswordPage'),
});

// Also for signed-in users: whoever has the link may use it.
const resetPassword = createRoute({
  getParentRoute: () => root,
  path: paths.resetPassword,
  component: lazyEntryPage(() => import('../features/accounts/reset-password-page'), 'ResetPasswordPage'),
});

export const entryRoutes = [login, signup, forgotPassword, resetPassword] as const;

/** Every address of the app, in one place. The server knows the same ones (src/pages/web.routes.ts). */
export const paths = {
  login: '/login',
  signup: '/signup',
  dashboard: '/dashboard',
} as const;

const OWN = /^\/(?:dashboard|admin)(?:[/?#]|$)/;

/** Where to go after the log-in: the page that was asked for, if it is one of ours, else the dashboard. */
export function safeNext(next: string | undefined): string {
  return next !== undefined && OWN.test(next) ? next : paths.dashboard;
}

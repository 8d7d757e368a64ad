import { Outlet } from '@tanstack/react-router';
import classes from './shell.module.css';

/** Around every page: the way past the navigation, and the page. */
export function RootLayout() {
  return (
    <>
      <a className={classes.skip} href="#main">
        Skip to content
      </a>
      <Outlet />
    </>
  );
}

import { Outlet } from '@tanstack/react-router';
import { useEffect } from 'react';
import { keepFocus } from './keep-focus';
import classes from './shell.module.css';

/** Around every page: the way past the navigation, and the page. */
export function RootLayout() {
  useEffect(keepFocus, []);
  return (
    <>
      <a className={classes.skip} href="#main">
        Skip to content
      </a>
      <Outlet />
    </>
  );
}

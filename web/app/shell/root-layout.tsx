import { Outlet } from '@tanstack/react-router';
import { useEffect } from 'react';
import { focusFaults } from './focus-faults';
import { keepFocus } from './keep-focus';
import classes from './shell.module.css';

/** Wraps every page; begins with a link past the navigation. */
export function RootLayout() {
  useEffect(keepFocus, []);
  useEffect(focusFaults, []);
  return (
    <>
      <a className={classes.skip} href="#main">
        Skip to content
      </a>
      <Outlet />
    </>
  );
}

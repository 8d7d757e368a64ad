import type { ReactNode } from 'react';
import classes from './page-tabs.module.css';

/** Parts of a page that have an address each: links, of which the current one has `aria-current`. */
export function PageTabs({ label, children }: { label: string; children: ReactNode }) {
  return (
    <nav className={classes.tabs} aria-label={label}>
      {children}
    </nav>
  );
}

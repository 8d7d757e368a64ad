import type { ReactNode } from 'react';
import classes from './page-tabs.module.css';

/** Tabs of a page, each with an address: links, of which the current one has `aria-current`. */
export function PageTabs({ label, children }: { label: string; children: ReactNode }) {
  return (
    <nav className={classes.tabs} aria-label={label}>
      {children}
    </nav>
  );
}

import type { ReactNode } from 'react';
import { useFirstView } from '../../shell/first-view';
import { Brand } from '../../ui/brand';
import { PageTitle } from '../../ui/page-title';
import { ThemeSwitch } from '../../ui/theme-switch';
import classes from './entry.module.css';
import { PriceList } from './price-list';

interface EntryLayoutProps {
  title: string;
  /** Below the title: a link to the other form. */
  lead: ReactNode;
  children: ReactNode;
}

/** The layout of the pages before the log-in: a form beside information. */
export function EntryLayout(props: EntryLayoutProps) {
  return useFirstView() && <Entry {...props} />;
}

function Entry({ title, lead, children }: EntryLayoutProps) {
  return (
    <div className={classes.page}>
      <header className={classes.header}>
        <a className={classes.home} href="/">
          <Brand />
        </a>
        <ThemeSwitch />
      </header>
      <main id="main" tabIndex={-1} className={classes.main}>
        <section className={classes.form}>
          <PageTitle>{title}</PageTitle>
          <p className={classes.lead}>{lead}</p>
          {children}
        </section>
        <PriceList />
      </main>
    </div>
  );
}

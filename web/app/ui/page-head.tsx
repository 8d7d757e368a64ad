import type { ReactNode } from 'react';
import classes from './page-head.module.css';
import { PageTitle } from './page-title';

interface PageHeadProps {
  title: string;
  /** One line about the page. */
  lead?: ReactNode;
  /** On the right: the main action, or controls of the whole page. */
  tools?: ReactNode;
}

/** The top of a page. */
export function PageHead({ title, lead, tools }: PageHeadProps) {
  return (
    <div className={classes.head}>
      <div>
        <PageTitle>{title}</PageTitle>
        {lead && <p className={classes.lead}>{lead}</p>}
      </div>
      {tools}
    </div>
  );
}

import type { ReactNode } from 'react';
import classes from './page-head.module.css';
import { PageTitle } from './page-title';

interface PageHeadProps {
  title: string;
  /** One line on what stands here. */
  lead?: ReactNode;
  /** On the other side: the one thing to do, or what changes the whole page. */
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

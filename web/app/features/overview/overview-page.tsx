import { useQuery } from 'urql';
import { ViewerDocument } from '../../../generated/graphql';
import { PageTitle } from '../../ui/page-title';
import classes from './overview.module.css';

/** `/dashboard` */
export function OverviewPage() {
  const [{ data }] = useQuery({ query: ViewerDocument });
  return (
    <>
      <PageTitle>Overview</PageTitle>
      <p className={classes.lead}>
        {data?.viewer && `Signed in as ${data.viewer.email}, plan ${data.viewer.plan.name}.`}
      </p>
    </>
  );
}

import { useQuery } from 'urql';
import { ViewerDocument } from '../../../generated/graphql';
import { PageTitle } from '../../ui/page-title';

/** `/dashboard` */
export function OverviewPage() {
  const [{ data }] = useQuery({ query: ViewerDocument });
  return (
    <>
      <PageTitle>Overview</PageTitle>
      <p>{data?.viewer && `Signed in as ${data.viewer.email}, plan ${data.viewer.plan.name}.`}</p>
    </>
  );
}

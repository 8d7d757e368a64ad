import { useState } from 'react';
import { useQuery } from 'urql';
import { ViewerDocument } from '../../generated/graphql';
import { forgetRefusedClick, hasRefusedClick } from '../refused-click';
import { ClosableBanner } from './closable-banner';

/** Shows that the last click was meant for another account and did nothing. */
export function OtherAccount() {
  const [closed, setClosed] = useState(false);
  const [{ data }] = useQuery({ query: ViewerDocument });
  const viewer = data?.viewer;
  if (closed || !viewer || !hasRefusedClick(viewer.id)) return null;
  const close = (): void => {
    forgetRefusedClick();
    setClosed(true);
  };
  return (
    <ClosableBanner onClose={close}>
      <strong>Nothing was done.</strong> Another tab has logged in as <em>{viewer.email}</em>, and this tab
      showed another account until now.
    </ClosableBanner>
  );
}

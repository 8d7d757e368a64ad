import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useQuery } from 'urql';
import { callsStopped } from '../../../src/lib/money-parts';
import { ViewerDocument } from '../../generated/graphql';
import { paths } from '../paths';
import { Note } from '../ui/note';
import classes from './app-layout.module.css';
import { ASK_FOR_CREDIT, useCanTopUp } from './use-outlook';

/** Shows on every page that calls are refused because the balance is used up. The header reads the balance. */
export function StoppedBar() {
  const [{ data }] = useQuery({ query: ViewerDocument });
  const canTopUp = useCanTopUp();
  if (!data?.viewer || !callsStopped(data.viewer.balanceUsd)) return null;
  return (
    <div className={classes.banner}>
      <Note
        tone="bad"
        action={
          canTopUp && (
            <Button size="xs" variant="default" component={Link} to={paths.billing}>
              Add credit
            </Button>
          )
        }
      >
        <strong>Calls stopped.</strong> The balance is below $0.001, so every call fails with 402
        insufficient_credits. {canTopUp === false ? ASK_FOR_CREDIT : 'Add credit to resume.'}
      </Note>
    </div>
  );
}

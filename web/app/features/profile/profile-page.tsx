import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { ProfileDocument } from '../../../generated/graphql';
import { usePageQuery } from '../../graphql/use-page-query';
import { useLogOut } from '../../shell/use-log-out';
import { Fact, Facts } from '../../ui/facts';
import { LoadError } from '../../ui/load-error';
import { Moment } from '../../ui/moment';
import { PageHead } from '../../ui/page-head';
import { Section } from '../../ui/section';
import { ChangePassword } from './change-password';
import { DeleteAccount } from './delete-account';
import { LowBalance } from './low-balance';
import classes from './profile.module.css';

/** `/dashboard/profile` */
export function ProfilePage(): ReactNode {
  const { data, error, refresh } = usePageQuery({
    query: ProfileDocument,
    variables: {},
    touches: ['SetLowBalanceAlertPayload'],
  });
  const logOut = useLogOut();
  const viewer = data?.viewer;
  return (
    <>
      <PageHead title="Profile" />
      {error && <LoadError error={error} onRetry={refresh} />}
      <Facts>
        <Fact name="Name">{viewer?.name}</Fact>
        <Fact name="Email">{viewer?.email}</Fact>
        <Fact name="Plan">{viewer?.plan.name}</Fact>
        <Fact name="Signed up">{viewer && <Moment at={viewer.createdAt} />}</Fact>
      </Facts>
      <Section title="Password">
        <ChangePassword email={viewer?.email} />
      </Section>
      <Section title="Low balance">
        {viewer && (
          <LowBalance
            thresholdUsd={viewer.lowBalanceThresholdUsd ?? null}
            mailConfigured={data.installation?.mailConfigured ?? true}
          />
        )}
      </Section>
      <Section title="Session">
        <p className={classes.text}>
          Logging out ends this session, including any other place that uses its token.
        </p>
        <div>
          <Button variant="default" onClick={() => void logOut()}>
            Log out
          </Button>
        </div>
      </Section>
      <Section title="Delete account">
        <DeleteAccount email={viewer?.email} />
      </Section>
    </>
  );
}

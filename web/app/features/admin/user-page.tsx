import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { UserOfAdminDocument, type UserRowFragment } from '../../../generated/graphql';
import { usePageQuery } from '../../graphql/use-page-query';
import { paths } from '../../paths';
import { LoadError } from '../../ui/load-error';
import { Moment } from '../../ui/moment';
import { Money } from '../../ui/money';
import { PageHead } from '../../ui/page-head';
import { Section } from '../../ui/section';
import { Tile, Tiles } from '../../ui/tiles';
import { Waiting } from '../../ui/waiting';
import { AdjustCredit } from './adjust-credit';
import classes from './admin.module.css';
import { AuditTable } from './audit-table';
import { UserAccess } from './user-access';
import { StateOfUser } from './user-facts';
import { ChangePlan } from './user-plan';

/** `/admin/users/{id}` */
export function UserPage(): ReactNode {
  const { userId } = useParams({ from: '/signed-in/administrators/admin/users/$userId' });
  const { data, error, refresh } = usePageQuery({
    query: UserOfAdminDocument,
    variables: { id: userId },
    touches: ['CreditAdjustment'],
  });
  const user = data?.user;
  const gone = error?.code === 'not_found';
  return (
    <>
      <Link to={paths.users} search={{}} className={classes.back}>
        ← Users
      </Link>
      {error && !gone && !user && <PageHead title="User" />}
      {error && !gone && <LoadError error={error} onRetry={refresh} />}
      {gone && <PageHead title="User not found" lead="It was deleted, or the URL is wrong." />}
      {!user && !error && <Waiting width={240} height={32} />}
      {user && !gone && (
        <User
          key={user.id}
          user={user}
          plans={data.plans?.map(({ name }) => name) ?? []}
          isSelf={data.viewer?.id === user.id}
        />
      )}
    </>
  );
}

interface UserProps {
  user: UserRowFragment;
  plans: readonly string[];
  /** The administrator's own account. */
  isSelf: boolean;
}

function User({ user, plans, isSelf }: UserProps) {
  return (
    <>
      <PageHead
        title={user.email || 'Account without email'}
        lead={
          <>
            {/* A name may contain characters that would reverse the text after it. */}
            <bdi>{user.name}</bdi>, signed up <Moment at={user.createdAt} />. ID{' '}
            <span className={classes.name}>{user.id}</span>
          </>
        }
      />
      <Tiles>
        <Tile label="Balance">
          <Money usd={user.balanceUsd} />
        </Tile>
        <Tile label="Plan">{user.planId}</Tile>
        <Tile label="Status">
          <StateOfUser user={user} />
        </Tile>
        <Tile label="Role">{user.role === 'ADMIN' ? 'admin' : 'user'}</Tile>
      </Tiles>
      <AdjustCredit user={user} />
      <ChangePlan user={user} plans={plans} />
      <UserAccess user={user} isSelf={isSelf} />
      <Section title="Audit log">
        <AuditTable subjectId={user.id} />
      </Section>
    </>
  );
}

import { Button, NativeSelect } from '@mantine/core';
import { useState } from 'react';
import { SetUserPlanDocument, type UserRowFragment } from '../../../generated/graphql';
import { useAction } from '../../graphql/use-action';
import { ConfirmDialog } from '../../ui/confirm-dialog';
import { Section } from '../../ui/section';
import classes from './admin.module.css';

/** Changes the plan of an account, unless somebody else has changed it meanwhile. */
export function ChangePlan({ user, plans }: { user: UserRowFragment; plans: readonly string[] }) {
  const { run, error, sending, forget } = useAction(SetUserPlanDocument);
  const [chosen, setChosen] = useState<string>();
  const [asked, setAsked] = useState<{ from: string; to: string }>();
  const plan = chosen ?? user.planId;
  const isOld = asked !== undefined && asked.from !== user.planId && !sending;
  const send = async (): Promise<void> => {
    if (!asked) return;
    const { data } = await run({ input: { id: user.id, plan: asked.to, expectedPlan: asked.from } });
    if (!data) return;
    setAsked(undefined);
    setChosen(undefined);
  };
  return (
    <Section title="Plan">
      <div className={classes.row}>
        <NativeSelect
          label="Plan"
          data={[...new Set([user.planId, ...plans])]}
          value={plan}
          onChange={({ currentTarget }) => setChosen(currentTarget.value)}
        />
        <Button
          variant="default"
          disabled={plan === user.planId}
          onClick={() => {
            forget();
            setAsked({ from: user.planId, to: plan });
          }}
        >
          Change plan
        </Button>
      </div>
      {asked && (
        <ConfirmDialog
          title={`Move ${user.email} to ${asked.to}?`}
          onClose={() => setAsked(undefined)}
          action="Change plan"
          onConfirm={() => void send()}
          sending={sending}
          error={error}
          changed={
            isOld && `The plan was changed elsewhere and is ${user.planId} now. Close this and look again.`
          }
        >
          <p>
            From {asked.from} to {asked.to}, at once: allowed models and requests per minute change within a
            second. A paid plan grants its included credits, once per month.
          </p>
        </ConfirmDialog>
      )}
    </Section>
  );
}

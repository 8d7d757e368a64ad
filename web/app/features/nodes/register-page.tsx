import { Button } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useState } from 'react';
import { RegisterNodeDocument } from '../../../generated/graphql';
import { useAction } from '../../graphql/use-action';
import { paths } from '../../paths';
import { ErrorNote } from '../../ui/error-note';
import { useFormDraft } from '../../ui/form-draft';
import { refusedFields } from '../../ui/form-errors';
import { PageHead } from '../../ui/page-head';
import { useIsHere } from '../../ui/use-is-here';
import { faultsOf, NO_FIELDS, NodeFormFields, nodeFields, nodeInput } from './node-form';
import classes from './nodes.module.css';

/** `/admin/nodes/new`: registers a node, then shows the agent's command line. */
export function RegisterPage(): ReactNode {
  const navigate = useNavigate();
  const isHere = useIsHere();
  const { run, error, sending } = useAction(RegisterNodeDocument);
  const [fields = NO_FIELDS, change, forget] = useFormDraft(
    'new node',
    (stored) => nodeFields.safeParse(stored).data,
  );
  const [faults, setFaults] = useState<Record<string, string>>({});
  const send = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const wrong = faultsOf(fields);
    setFaults(wrong);
    if (Object.keys(wrong).length > 0) return;
    const { data, error: refused } = await run({ input: nodeInput(fields) });
    if (refused) setFaults(refusedFields(refused.fields));
    if (!data) return;
    forget();
    const nodeId = data.createGpuNode.node.id;
    if (isHere()) await navigate({ to: paths.node, params: { nodeId }, search: { tab: 'agent' } });
  };
  return (
    <>
      <Link to={paths.nodes} search={{}} className={classes.back}>
        ← Nodes
      </Link>
      <PageHead
        title="Register a node"
        lead="Links a machine to the host and port of a deployment. Routing doesn’t change before its first heartbeat."
      />
      <form noValidate className={classes.form} onSubmit={(event) => void send(event)}>
        {error && Object.keys(error.fields).length === 0 && <ErrorNote error={error} />}
        <NodeFormFields
          fields={fields}
          faults={faults}
          sending={sending}
          onChange={(next) => {
            setFaults({});
            change(next);
          }}
        />
        <div>
          <Button type="submit" loading={sending}>
            Register node
          </Button>
        </div>
      </form>
    </>
  );
}

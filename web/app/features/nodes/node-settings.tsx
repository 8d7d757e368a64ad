import { Button } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { z } from 'zod';
import { UpdateNodeDocument } from '../../../generated/graphql';
import { useAction } from '../../graphql/use-action';
import { Elsewhere } from '../../ui/elsewhere';
import { ErrorNote } from '../../ui/error-note';
import { useFormDraft } from '../../ui/form-draft';
import { refusedFields } from '../../ui/form-errors';
import { Note } from '../../ui/note';
import type { LiveNode } from './live-nodes';
import { faultsOf, fieldsOf, type NodeFields, NodeFormFields, nodeFields, nodeInput } from './node-form';
import classes from './nodes.module.css';

/** The typed fields, and the time of the change that they are based on. */
const editing = z.object({ base: z.string(), fields: nodeFields });

/** Edits the settings of a node. Changes that another tab saved meanwhile are never overwritten unseen. */
export function NodeSettings({ node }: { node: LiveNode }) {
  const { run, error, sending, forget: forgetError } = useAction(UpdateNodeDocument);
  const [draft, change, forget] = useFormDraft(`node ${node.id}`, (stored) => editing.safeParse(stored).data);
  const [faults, setFaults] = useState<Record<string, string>>({});
  const [saved, setSaved] = useState(false);
  const fields = draft?.fields ?? fieldsOf(node);
  const isOld = draft !== undefined && draft.base !== node.updatedAt && !sending;
  const discard = (): void => {
    setFaults({});
    forgetError();
    forget();
  };
  const send = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setSaved(false);
    const wrong = faultsOf(fields);
    setFaults(wrong);
    if (!draft || Object.keys(wrong).length > 0) return;
    const { data, error: refused } = await run({
      input: { id: node.id, expectedUpdatedAt: draft.base, ...nodeInput(fields) },
    });
    if (refused) setFaults(refusedFields(refused.fields));
    if (!data) return;
    forget();
    setSaved(true);
  };
  return (
    <form noValidate className={classes.form} onSubmit={(event) => void send(event)}>
      {error && !isOld && Object.keys(error.fields).length === 0 && <ErrorNote error={error} />}
      {isOld && (
        <Elsewhere
          what="The node"
          now={differing(fieldsOf(node), fields)}
          onKeep={() => change({ base: node.updatedAt, fields })}
          onDiscard={discard}
        />
      )}
      {saved && !draft && (
        <Note tone="good" followsButton>
          Saved.
        </Note>
      )}
      <NodeFormFields
        fields={fields}
        faults={faults}
        sending={sending}
        onChange={(next) => {
          setFaults({});
          setSaved(false);
          change({ base: draft?.base ?? node.updatedAt, fields: next });
        }}
      />
      <div className={classes.tools}>
        <Button type="submit" loading={sending} disabled={draft === undefined || isOld}>
          Save
        </Button>
        {draft && (
          <Button variant="default" onClick={discard}>
            Discard changes
          </Button>
        )}
      </div>
    </form>
  );
}

const LABELS: Record<keyof NodeFields, string> = {
  name: 'name',
  provider: 'provider',
  region: 'region',
  gpuType: 'GPU type',
  hourlyCostUsd: 'cost per hour',
  endpointUrl: 'address',
};

/** The current values of the node, where they differ from the typed ones. */
function differing(now: NodeFields, typed: NodeFields): string {
  const names = (Object.keys(LABELS) as (keyof NodeFields)[]).filter((name) => now[name] !== typed[name]);
  if (names.length === 0) return 'Your values are the same.';
  return `Now: ${names.map((name) => `${LABELS[name]} ${now[name]}`).join('; ')}.`;
}

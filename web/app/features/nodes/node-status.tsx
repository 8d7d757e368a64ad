import { Button } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { DeleteNodeDocument, type GpuNodeStatus, UpdateNodeDocument } from '../../../generated/graphql';
import { useAction } from '../../graphql/use-action';
import { paths } from '../../paths';
import { ConfirmButton, ConfirmDialog } from '../../ui/confirm-dialog';
import { Unseen } from '../../ui/unseen';
import { useNotePlace } from '../../ui/use-is-here';
import type { LiveNode } from './live-nodes';

interface Step {
  button: string;
  title(name: string): ReactNode;
  does: ReactNode;
}

const STEPS: Record<GpuNodeStatus, Step> = {
  DRAINING: {
    button: 'Drain',
    title: (name) => (
      <>
        Drain <em>{name}</em>?
      </>
    ),
    does: 'Within a second, the node gets no new calls. Calls in flight finish. Other deployments of its models take over; without any, fallbacks answer, or calls fail with 503.',
  },
  OFFLINE: {
    button: 'Take offline',
    title: (name) => (
      <>
        Take <em>{name}</em> offline?
      </>
    ),
    does: 'Within a second, the node gets no new calls. Calls in flight finish. Choose this for a machine that is switched off: its silence is expected and no longer counts as a fault.',
  },
  ACTIVE: {
    button: 'Resume',
    title: (name) => (
      <>
        Resume <em>{name}</em>?
      </>
    ),
    does: 'The gateway asks the node for one token until it answers, then sends one call at a time until one succeeds, and then its full share.',
  },
};

const WORDS: Record<GpuNodeStatus, string> = {
  ACTIVE: 'active',
  DRAINING: 'draining',
  OFFLINE: 'offline',
};

interface StatusButtonProps {
  node: LiveNode;
  to: GpuNodeStatus;
  /** In a row, beside the name of the node. */
  compact?: boolean;
}

/** Changes the status of a node, after a confirmation that explains the consequences. */
export function StatusButton({ node, to, compact = false }: StatusButtonProps) {
  const { button } = STEPS[to];
  // The node as it was when the confirmation was opened.
  const [asked, setAsked] = useState<LiveNode>();
  return (
    <>
      <Button {...(compact && { size: 'xs' })} variant="default" onClick={() => setAsked(node)}>
        {button}
        {compact && <Unseen> {node.name}</Unseen>}
      </Button>
      {asked && <Question node={node} asked={asked} to={to} onClose={() => setAsked(undefined)} />}
    </>
  );
}

interface QuestionProps {
  node: LiveNode;
  asked: LiveNode;
  to: GpuNodeStatus;
  onClose(): void;
}

function Question({ node, asked, to, onClose }: QuestionProps) {
  const { button, title, does } = STEPS[to];
  const { run, error, sending } = useAction(UpdateNodeDocument);
  const changed = node.updatedAt !== asked.updatedAt && !sending;
  const send = async (): Promise<void> => {
    const input = { id: asked.id, status: to, expectedUpdatedAt: asked.updatedAt };
    const { data } = await run({ input });
    if (data) onClose();
  };
  return (
    <ConfirmDialog
      title={title(asked.name)}
      onClose={onClose}
      action={button}
      onConfirm={() => void send()}
      sending={sending}
      error={error}
      changed={
        changed &&
        `The node was changed elsewhere and is ${WORDS[node.status]} now. Close this and look again.`
      }
    >
      <p>{does}</p>
      {to !== 'ACTIVE' && node.inFlight != null && (
        <p>
          Calls in flight: <strong>{node.inFlight}</strong>
        </p>
      )}
    </ConfirmDialog>
  );
}

/** Deletes a node after a confirmation, which names the node and the consequences. */
export function DeleteNode({ node: { id, name, status } }: { node: LiveNode }) {
  const navigate = useNavigate();
  const notePlace = useNotePlace();
  const { run, error, sending } = useAction(DeleteNodeDocument);
  const remove = async (): Promise<void> => {
    const isHere = notePlace();
    const { data } = await run({ input: { id } });
    if (data && isHere()) await navigate({ to: paths.nodes, search: {} });
  };
  return (
    <ConfirmButton
      action="Delete node"
      title={
        <>
          Delete node <em>{name}</em>?
        </>
      }
      onConfirm={remove}
      sending={sending}
      error={error}
    >
      <p>
        The node and its heartbeats are deleted; its benchmarks stay. Its agent gets 404. This can’t be
        undone.
      </p>
      <p>
        Routing no longer considers the node: deployments at its address take calls as if it had never been
        registered
        {status === 'ACTIVE' ? '.' : `, although it is ${WORDS[status]} now.`} To stop calls, remove them from
        the routing file first.
      </p>
    </ConfirmButton>
  );
}

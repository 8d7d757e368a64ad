import type { ChildProcess } from 'node:child_process';

/** A message from node:cluster to a worker, here with a connection, or the worker's reply. */
interface ClusterMessage {
  cmd?: string;
  act?: string;
  seq?: number;
  ack?: number;
}

interface Connection {
  close(): void;
}

/**
 * Closes connections that a worker of node:cluster can't take: those on their way when the worker died, and those for which it
 * has no file descriptor. node:cluster waits for a reply that never comes and keeps such connections open, so their clients
 * would wait until they time out. A live worker would get no further connections either, even with free descriptors.
 * @param onRefused Called for each connection that a live worker has no descriptor for.
 */
export function closeUnaccepted(worker: ChildProcess, onRefused: () => void): void {
  const onTheWay = new Map<number, Connection>();
  const send = worker.send.bind(worker) as (...given: unknown[]) => boolean;
  worker.send = ((message: ClusterMessage, connection?: Connection, ...more: unknown[]) => {
    if (message.act === 'newconn' && connection) onTheWay.set(message.seq!, connection);
    return send(message, connection, ...more);
  }) as ChildProcess['send'];
  worker.on('internalMessage' as 'message', (message) => {
    const { ack, cmd } = message as ClusterMessage;
    if (ack !== undefined) onTheWay.delete(ack);
    if (cmd !== 'NODE_HANDLE_NACK') return;
    // The message arrived without its connection. Only one connection is sent at a time, so it is the first one.
    const [seq] = onTheWay.keys();
    if (seq === undefined) return;
    onRefused();
    // Reported as accepted, because the cluster then closes it. A refused one would go round all workers without end.
    worker.emit('internalMessage', { cmd: 'NODE_CLUSTER', ack: seq, accepted: true });
  });
  worker.once('exit', () => {
    for (const connection of onTheWay.values()) connection.close();
    onTheWay.clear();
  });
}

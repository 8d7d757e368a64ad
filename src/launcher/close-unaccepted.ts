import type { ChildProcess } from 'node:child_process';

/** What node:cluster says to a worker, here with a connection, and the worker's answer to it. */
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
 * Closes the connections that were on their way to a worker of node:cluster when it died, or that it has no file descriptor
 * for. The cluster waits for the worker's word on each, which doesn't come any more, and keeps them open: their callers would
 * wait until they give up. A live worker would get no other connection either, even when it has descriptors again.
 * @param onRefused called for each connection that a live worker has no descriptor for.
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
    // The message has arrived without its connection. Only one is sent at a time: others wait behind it.
    const [seq] = onTheWay.keys();
    if (seq === undefined) return;
    onRefused();
    // The cluster closes a connection that a worker has accepted. Others go to the next worker, without end once no worker has a descriptor.
    worker.emit('internalMessage', { cmd: 'NODE_CLUSTER', ack: seq, accepted: true });
  });
  worker.once('exit', () => {
    for (const connection of onTheWay.values()) connection.close();
    onTheWay.clear();
  });
}

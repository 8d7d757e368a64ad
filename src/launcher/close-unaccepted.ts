import type { ChildProcess } from 'node:child_process';

/** What node:cluster says to a worker, here with a connection, and the worker's answer to it. */
interface ClusterMessage {
  act?: string;
  seq?: number;
  ack?: number;
}

interface Connection {
  close(): void;
}

/**
 * Closes the connections that were on their way to a worker of node:cluster when it died. The cluster waits for the worker's word on
 * each, which doesn't come any more, and keeps them open: their callers would wait until they give up.
 */
export function closeUnaccepted(worker: ChildProcess): void {
  const onTheWay = new Map<number, Connection>();
  const send = worker.send.bind(worker) as (...given: unknown[]) => boolean;
  worker.send = ((message: ClusterMessage, connection?: Connection, ...more: unknown[]) => {
    if (message.act === 'newconn' && connection) onTheWay.set(message.seq!, connection);
    return send(message, connection, ...more);
  }) as ChildProcess['send'];
  worker.on('internalMessage' as 'message', (message) => {
    const { ack } = message as ClusterMessage;
    if (ack !== undefined) onTheWay.delete(ack);
  });
  worker.once('exit', () => {
    for (const connection of onTheWay.values()) connection.close();
    onTheWay.clear();
  });
}

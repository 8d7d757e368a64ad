import type { ErrorCode, ErrorOptions } from '../errors.js';

/** Plain data for another thread, with buffers only at the top level. */
type Message = Record<string, unknown>;

/**
 * Prepares a message. Buffers that own their memory are transferred instead of copied, and are empty here afterwards.
 */
export function packMessage(message: object): { message: Message; transfer: ArrayBuffer[] } {
  const ready: Message = { ...message };
  const transfer: ArrayBuffer[] = [];
  for (const [name, value] of Object.entries(ready)) {
    if (!(value instanceof Uint8Array)) continue;
    // Transferring a slice would transfer its whole memory, including other buffers.
    const own = value.byteLength === value.buffer.byteLength ? value : new Uint8Array(value);
    ready[name] = own;
    transfer.push(own.buffer as ArrayBuffer);
  }
  return { message: ready, transfer };
}

/** Restores a received message: turns each `Uint8Array` back into a `Buffer`. */
export function unpackMessage<Shape extends object>(message: object): Shape {
  const read: Message = { ...message };
  for (const [name, value] of Object.entries(read)) {
    if (value instanceof Uint8Array)
      read[name] = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  }
  return read as Shape;
}

/** The worker thread's answer to a job. */
export type WorkerAnswer =
  | { result: object }
  /** An `AppError`. */
  | { refused: { code: ErrorCode; options: ErrorOptions } }
  /** A bug. */
  | { failed: string };

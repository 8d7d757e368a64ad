import { setFlagsFromString } from 'node:v8';

/**
 * Lets old objects double before they are collected. V8 would decide by how fast it has collected and how fast the program has
 * allocated: on a busy machine that varies, and memory keeps the highest peak so far (docs/decisions/0188-old-objects-may-double.md).
 */
export function keepHeapEven(): void {
  setFlagsFromString('--heap-growing-percent=100');
}

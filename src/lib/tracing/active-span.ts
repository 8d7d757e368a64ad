import type { Span } from './tracing.js';

let provider: (() => Span | undefined) | undefined;

/** Sets the source of `activeSpan`. */
export function provideActiveSpan(next: (() => Span | undefined) | undefined): void {
  provider = next;
}

/** The span of the request for which this code runs. */
export const activeSpan = (): Span | undefined => provider?.();

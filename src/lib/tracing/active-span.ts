import type { Span } from './tracing.js';

let provider: (() => Span | undefined) | undefined;

/** Says from where `activeSpan` has it. */
export function provideActiveSpan(next: (() => Span | undefined) | undefined): void {
  provider = next;
}

/** The span of the request on whose behalf this code runs. */
export const activeSpan = (): Span | undefined => provider?.();

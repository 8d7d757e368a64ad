/**
 * A time limit detects hanging, not slowness: on a machine with other work everything takes longer.
 * Files set the limits of a quiet machine.
 */
export const FACTOR = 3;

interface Limited {
  timeout?: number;
}

/** The part of jest-circus that is used here. */
export interface TestBlock {
  type: 'describeBlock';
  hooks: Limited[];
  children: (TestBlock | (Limited & { type: 'test' }))[];
}

function stretch({ hooks, children }: TestBlock): void {
  for (const hook of hooks) if (hook.timeout) hook.timeout *= FACTOR;
  for (const child of children) {
    if (child.type === 'describeBlock') stretch(child);
    else if (child.timeout) child.timeout *= FACTOR;
  }
}

/** Stretches the time limits of a file's tests and hooks, before the first of them runs. */
export function stretchLimits(state: { testTimeout: number; rootDescribeBlock: TestBlock }): void {
  state.testTimeout *= FACTOR;
  stretch(state.rootDescribeBlock);
}

/**
 * A time limit says that something hangs, not how fast it is: on a machine that does other work everything takes longer.
 * What a file asks for is what a quiet machine needs.
 */
export const FACTOR = 3;

interface Limited {
  timeout?: number;
}

/** Of jest-circus, what is used here. */
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

import { BodyBudget, BodyShare } from '../../../src/inference/memory/body-budget.js';

const MIB = 2 ** 20;
const budgetOf = (answerBytes: number) =>
  new BodyBudget({ smallBodyBytes: MIB, largeBodyBytes: MIB, answerBytes });

describe("a call's share of the memory", () => {
  test('a call gives back all of its memory, once', () => {
    const budget = budgetOf(8 * MIB);
    const share = new BodyShare(budget, 'one');
    share.receive(100_000);
    share.grow(10_000);
    share.grow(MIB);
    expect(budget.usedBytes).toBeGreaterThan(MIB + 110_000);
    share.release();
    share.release();
    expect(budget.usedBytes).toBe(0);
  });

  test('an answer in use counts until it is unpinned, even if the client has disconnected', () => {
    const budget = budgetOf(8 * MIB);
    const share = new BodyShare(budget, 'one');
    share.grow(MIB);
    const unpin = share.pin();
    share.release();
    expect(budget.usedBytes).toBe(MIB);
    share.grow(MIB);
    expect(budget.usedBytes).toBe(2 * MIB);
    unpin();
    expect(budget.usedBytes).toBe(0);
  });

  test('a converted answer counts with its new size only', () => {
    const budget = budgetOf(8 * MIB);
    const share = new BodyShare(budget, 'one');
    share.grow(2 * MIB);
    share.grow(MIB);
    share.shrink(2 * MIB);
    expect(budget.usedBytes).toBe(MIB);
    expect(share.holdsAnswer).toBe(true);
    share.release();
    expect(budget.usedBytes).toBe(0);
  });

  test('a call takes no memory once it is over', () => {
    const budget = budgetOf(8 * MIB);
    const share = new BodyShare(budget, 'one');
    share.release();
    share.receive(MIB);
    share.grow(MIB);
    expect(budget.usedBytes).toBe(0);
  });
});

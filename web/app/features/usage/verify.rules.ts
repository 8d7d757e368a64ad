import { costOf, formatMoney, parseMoney, pricePerToken } from '../../../../src/lib/money';
import { moneyText } from '../../ui/money-text';

/** The amounts of a receipt. */
interface Charged {
  event: { status: string; inputTokens: number; outputTokens: number; costUsd: string };
  inputPricePerMillionUsd: string;
  outputPricePerMillionUsd: string;
  balanceBeforeUsd?: string | null | undefined;
  balanceAfterUsd?: string | null | undefined;
}

interface Verified {
  computedUsd: string;
  /** The computation as text. */
  steps: string;
  /** Whether charge and balances match it. */
  agrees: boolean;
}

/** Computes the cost of a call from its tokens and prices, exactly as the gateway does. A failed call costs nothing. */
export function verified(receipt: Charged): Verified {
  const { event, inputPricePerMillionUsd: priceIn, outputPricePerMillionUsd: priceOut } = receipt;
  const isFree = event.status === 'ERROR';
  const computed = isFree
    ? 0n
    : costOf(event.inputTokens, event.outputTokens, pricePerToken(priceIn), pricePerToken(priceOut));
  const before = receipt.balanceBeforeUsd;
  const after = receipt.balanceAfterUsd;
  const moved = before != null && after != null ? parseMoney(before) - parseMoney(after) : computed;
  return {
    computedUsd: formatMoney(computed),
    steps: isFree
      ? 'Failed calls are free'
      : `${event.inputTokens} × ${moneyText(priceIn)} + ${event.outputTokens} × ${moneyText(priceOut)} per million tokens`,
    agrees: computed === parseMoney(event.costUsd) && computed === moved,
  };
}

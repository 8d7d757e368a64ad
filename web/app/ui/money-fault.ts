import { moneyInput } from '../../../src/lib/money-input';
import { asSentence } from './form-errors';
import { formatCount } from './format';

/** The error of a typed amount of dollars, in the server's words with the bound as money; undefined if it is valid. */
export function moneyFault(text: string): string | undefined {
  const message = moneyInput.safeParse(text).error?.issues[0]?.message;
  return message && asSentence(message.replace(/\d{4,}/, (bound) => `$${formatCount(Number(bound))}`));
}

import { moneyInput } from '../../../src/lib/money-input';
import { asSentence } from './form-errors';
import { formatCount } from './format';

/** What is wrong with a typed amount of dollars, in the server's words, its bound as money; undefined: nothing. */
export function moneyFault(text: string): string | undefined {
  const message = moneyInput.safeParse(text).error?.issues[0]?.message;
  return message && asSentence(message.replace(/\d{4,}/, (bound) => `$${formatCount(Number(bound))}`));
}

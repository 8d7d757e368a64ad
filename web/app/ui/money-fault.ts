import { moneyInput } from '../../../src/lib/money-input';
import { asSentence } from './form-errors';

/** What is wrong with a typed amount of dollars, in the server's words; undefined: nothing. */
export function moneyFault(text: string): string | undefined {
  const message = moneyInput.safeParse(text).error?.issues[0]?.message;
  return message && asSentence(message);
}

import { domainOf } from '../../../../src/services/widgets/domains.rules';

const SEPARATOR = /[\s,;]+/;

/** A port, or the number of an entry in a list: a browser would take it for an address. */
const NUMBER = /^\d+\.?$/;

/** What stands beside others and has no dot is a word of a text, such as "and", unless it is this. */
const isWord = (domain: string): boolean => !/[.:]/.test(domain) && domain !== 'localhost';

/** The domains of what somebody has entered: one, or a list with commas, semicolons or spaces; and the words that are none. */
export function enteredDomains(text: string): { right: string[]; wrong: string[] } {
  const right: string[] = [];
  const wrong: string[] = [];
  const words = text.split(SEPARATOR).filter(Boolean);
  for (const word of words) {
    const domain = NUMBER.test(word) ? undefined : domainOf(word);
    if (domain === undefined || (words.length > 1 && isWord(domain))) wrong.push(word);
    else right.push(domain);
  }
  return { right, wrong };
}

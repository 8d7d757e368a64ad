import { domainOf } from '../../../../src/services/widgets/domains.rules';

const SEPARATOR = /[,;\n]+/;

/** What stands beside other words and has no dot is a word of a text, such as "and", unless it is this. */
const isWord = (domain: string): boolean => !/[.:]/.test(domain) && domain !== 'localhost';

/** The domains of what somebody has entered: one, or a list with commas, semicolons or spaces; and the words that are none. */
export function enteredDomains(text: string): { right: string[]; wrong: string[] } {
  const right: string[] = [];
  const wrong: string[] = [];
  for (const entry of text.split(SEPARATOR)) {
    const words = entry.split(/\s+/).filter(Boolean);
    for (const word of words) {
      const domain = domainOf(word);
      if (domain === undefined || (words.length > 1 && isWord(domain))) wrong.push(word);
      else right.push(domain);
    }
  }
  return { right, wrong };
}

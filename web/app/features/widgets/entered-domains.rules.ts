import { domainOf } from '../../../../src/services/widgets/domains.rules';

const SEPARATOR = /[\s,;]+/;

/** A port or a list number, which a browser would take for an IP address. */
const NUMBER = /^\d+\.?$/;

/** In a list, an entry without a dot is a word, such as "and", unless it is `localhost`. */
const isWord = (domain: string): boolean => !/[.:]/.test(domain) && domain !== 'localhost';

/** Splits an entered domain, or a list with commas, semicolons or spaces, into valid domains and other words. */
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

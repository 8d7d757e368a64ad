import { escaped } from '../lib/html.js';
import type { SiteContext } from './site.js';
import { sitePage } from './site-page.js';

/** A page of one thought: a title, a sentence, and a button where there is something to decide. */
export interface MailPage {
  title: string;
  text: string;
  /** Sends the form to the address of this page. */
  button?: string;
}

/** A public page that a link in a mail leads to. It works without scripts. */
export function mailPage({ title, text, button }: MailPage, site: SiteContext): string {
  const form =
    button === undefined
      ? ''
      : `<form method="post"><button type="submit">${escaped(button)}</button></form>`;
  return sitePage({ title, main: `<p>${escaped(text)}</p>\n${form}` }, site);
}

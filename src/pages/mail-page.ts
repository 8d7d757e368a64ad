import { escaped } from '../lib/html.js';

/** A page of one thought: a title, a sentence, and a button where there is something to decide. */
export interface MailPage {
  title: string;
  text: string;
  /** Sends the form to the address of this page. */
  button?: string;
}

/** A public page that a link in a mail leads to, in the style of the documentation. It works without scripts. */
export function mailPage({ title, text, button }: MailPage): string {
  const form =
    button === undefined
      ? ''
      : `<form method="post"><button type="submit">${escaped(button)}</button></form>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escaped(title)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/style.css">
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
<p>${escaped(text)}</p>
${form}
</main>
</body>
</html>
`;
}

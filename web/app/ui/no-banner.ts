/** Mantine makes the head of a dialog a `<header>`, which would be a second banner of the page. */
export const NO_BANNER = { header: { role: 'presentation' } };

/** Paths of all public pages, from the sitemap, and those that it leaves out. */
export async function publicPages(url) {
  const text = await (await fetch(`${url}/sitemap.xml`)).text();
  const listed = [...text.matchAll(/<loc>([^<]+)<\/loc>/g)].map(([, address]) => new URL(address).pathname);
  if (listed.length < 10) throw new Error(`the sitemap names ${listed.length} pages only`);
  return [...new Set([...listed, '/login', '/signup'])];
}

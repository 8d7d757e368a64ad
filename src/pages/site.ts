/** What the public pages share, by addresses of the web build. */
export interface SiteAssets {
  theme: string;
  style: string;
  script: string;
  /** The script of `/migrate`. */
  migrate: string;
  icon: string;
  /** What a link to a page shows elsewhere. */
  picture: string;
}

/** What all public pages of this installation have in common. */
export interface SiteContext {
  /** Public address, without a slash at the end. */
  baseUrl: string;
  /** Undefined where the pages are not built: they stand without a style. */
  assets: SiteAssets | undefined;
}

export interface SitePage {
  title: string;
  /** Of the document, where it isn't the heading with the name of the product. */
  documentTitle?: string;
  /** For who finds the page in a search; without one it isn't meant to be found. */
  description?: string;
  /** The page's own address, marked in the header. */
  path?: string;
  /** What the page is about for search engines, in the terms of schema.org; without it a page of the web. */
  about?: object;
  /** As wide as the dashboard; otherwise as wide as text. */
  wide?: boolean;
  /** HTML in the place of the plain heading. */
  opening?: string;
  /** Beside the text, such as a list of contents. */
  aside?: string;
  /** A script of its own beside the one of all pages. */
  script?: string | undefined;
  /** HTML. */
  main: string;
}

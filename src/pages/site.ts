/** Assets that public pages share, by their URLs in the web build. */
export interface SiteAssets {
  theme: string;
  style: string;
  script: string;
  /** The script of `/migrate`. */
  migrate: string;
  icon: string;
  /** Preview picture of links. */
  picture: string;
}

/** What all public pages of this installation have in common. */
export interface SiteContext {
  /** Public URL, without a trailing slash. */
  baseUrl: string;
  /** Undefined if the pages aren't built: they are shown unstyled. */
  assets: SiteAssets | undefined;
}

export interface SitePage {
  title: string;
  /** Title of the document, if it isn't the heading with the product's name. */
  documentTitle?: string;
  /** For search results; a page without one isn't meant to be found. */
  description?: string;
  /** The page's own path, marked in the header. */
  path?: string;
  /** What the page is about, in schema.org terms; by default a web page. */
  about?: object;
  /** As wide as the dashboard instead of as wide as text. */
  wide?: boolean;
  /** HTML that replaces the plain heading. */
  opening?: string;
  /** HTML beside the text, such as a table of contents. */
  aside?: string;
  /** Another script in addition to the one of all pages. */
  script?: string | undefined;
  /** HTML. */
  main: string;
}

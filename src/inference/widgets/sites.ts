import { LRUCache } from 'lru-cache';
import { type Clock, utcDay } from '../../lib/clock.js';

const MAX_WIDGETS = 20_000;
/** Sites of a widget that are told apart on a day: anybody can write any name into a header. */
const MAX_SITES = 100;
const LONGEST = 253;

/** Which sites are told apart in what is counted. */
export class Sites {
  readonly #known = new LRUCache<string, { day: string; sites: Set<string> }>({ max: MAX_WIDGETS });

  constructor(private readonly clock: Clock) {}

  /** The name under which a site is counted; empty for one that isn't named, or one too many. */
  nameOf(widgetId: string, site: string | undefined): string {
    if (site === undefined || site.length > LONGEST) return '';
    const day = utcDay(this.clock.now());
    let known = this.#known.get(widgetId);
    if (known?.day !== day) {
      known = { day, sites: new Set() };
      this.#known.set(widgetId, known);
    }
    if (known.sites.has(site)) return site;
    if (known.sites.size >= MAX_SITES) return '';
    known.sites.add(site);
    return site;
  }
}

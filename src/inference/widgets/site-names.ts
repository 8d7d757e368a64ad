import { LRUCache } from 'lru-cache';
import { type Clock, utcDay } from '../../lib/clock.js';
import { allowsSite } from '../../services/widgets/domains.rules.js';
import type { WidgetRow } from './widget.store.js';

const MAX_WIDGETS = 20_000;
/** Most sites of a widget that are counted by name on a day. Anybody can write any name into a header. */
const MAX_SITES = 100;
/** The same for sites that the widget refuses, so that strangers take no place from the owner's own sites. */
const MAX_REFUSED_SITES = 20;
const LONGEST = 253;

interface Named {
  day: string;
  allowed: Set<string>;
  refused: Set<string>;
}

/** Limits the number of sites that are counted by name. */
export class SiteNames {
  readonly #known = new LRUCache<string, Named>({ max: MAX_WIDGETS });

  constructor(private readonly clock: Clock) {}

  /** The name under which a site is counted; empty without a name, or beyond the limit. */
  nameOf({ id, domains }: Pick<WidgetRow, 'id' | 'domains'>, site: string | undefined): string {
    if (site === undefined || site.length > LONGEST) return '';
    if (domains.includes(site)) return site;
    const day = utcDay(this.clock.now());
    let known = this.#known.get(id);
    if (known?.day !== day) {
      known = { day, allowed: new Set(), refused: new Set() };
      this.#known.set(id, known);
    }
    const isAllowed = allowsSite(domains, site);
    const sites = isAllowed ? known.allowed : known.refused;
    if (sites.has(site)) return site;
    if (sites.size >= (isAllowed ? MAX_SITES : MAX_REFUSED_SITES)) return '';
    sites.add(site);
    return site;
  }
}

import { type PageSearch, pageSearch } from '../../paths';

/** Search parameters of the page of alerts. */
interface AlertsSearch extends PageSearch {
  /** The dialog for a new alert is open: `true`, or the id of the chosen key. */
  new_alert?: true | string;
}

/** Reads the search parameters; drops invalid ones. */
export const alertsSearch = (search: Record<string, unknown>): AlertsSearch => ({
  ...pageSearch(search),
  ...((search.new_alert === true || typeof search.new_alert === 'string') && { new_alert: search.new_alert }),
});

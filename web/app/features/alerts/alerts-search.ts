import { type PageSearch, pageSearch } from '../../paths';

/** What of the page of alerts stands in the address. */
interface AlertsSearch extends PageSearch {
  /** The dialog for a new alert is open: before a key was chosen, or with the id of one. */
  new_alert?: true | string;
}

/** From an address; whatever means nothing is left out. */
export const alertsSearch = (search: Record<string, unknown>): AlertsSearch => ({
  ...pageSearch(search),
  ...((search.new_alert === true || typeof search.new_alert === 'string') && { new_alert: search.new_alert }),
});

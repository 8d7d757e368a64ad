/** How far an audit of everything has come: first all times, then all accounts by id. */
export interface Position {
  /** Up to here, times are checked. */
  from: string;
  /** Accounts up to this id are checked; the last one up to a place in its ledger if `start` isn't null. */
  account: string;
  start: string | null;
  total: string;
}

export const BEGINNING: Position = {
  from: '-infinity',
  account: '00000000-0000-0000-0000-000000000000',
  start: null,
  total: '0',
};

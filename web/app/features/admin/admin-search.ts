/** Search parameters of the list of users. */
export interface UsersSearch {
  /** The text to search for. */
  q?: string;
  /** Cursor after which the page begins; absent: the first page. */
  after?: string;
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** Reads the search parameters; drops invalid ones. */
export const usersSearch = ({ q, after }: Record<string, unknown>): UsersSearch => ({
  ...(isText(q) && { q }),
  ...(isText(after) && { after }),
});

/** Kinds of actions, by their names in the API. */
export const ACTION_KINDS = [
  { value: 'account.', label: 'Accounts' },
  { value: 'account.adjust_credit', label: 'Credit adjustments' },
  { value: 'node.', label: 'Nodes' },
  { value: 'model.', label: 'Models' },
] as const;
export type ActionKind = (typeof ACTION_KINDS)[number]['value'];

/** Search parameters of the audit log. */
export interface AuditSearch {
  /** ID of an account or node, or name of a model. */
  subject?: string;
  kind?: ActionKind;
  /** The account of an administrator. */
  actor?: string;
  /** From 1. */
  page?: number;
}

/** Reads the search parameters; drops invalid ones. */
export const auditSearch = ({ subject, kind, actor, page }: Record<string, unknown>): AuditSearch => {
  const known = ACTION_KINDS.find(({ value }) => value === kind)?.value;
  return {
    ...(isText(subject) && { subject: subject.trim() }),
    ...(known && { kind: known }),
    ...(isText(actor) && { actor }),
    ...(typeof page === 'number' && Number.isInteger(page) && page > 1 && { page }),
  };
};

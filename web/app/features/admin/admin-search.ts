/** What of the list of users stands in the address. */
export interface UsersSearch {
  /** What is looked for. */
  q?: string;
  /** Where the page begins; absent: with the first. */
  after?: string;
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** From an address; whatever means nothing is left out. */
export const usersSearch = ({ q, after }: Record<string, unknown>): UsersSearch => ({
  ...(isText(q) && { q }),
  ...(isText(after) && { after }),
});

/** Kinds of actions, as the API calls them. */
export const ACTION_KINDS = [
  { value: 'account.', label: 'Accounts' },
  { value: 'account.adjust_credit', label: 'Credit adjustments' },
  { value: 'node.', label: 'Nodes' },
  { value: 'model.', label: 'Models' },
] as const;
export type ActionKind = (typeof ACTION_KINDS)[number]['value'];

/** What of the audit log stands in the address. */
export interface AuditSearch {
  /** ID of an account or node, or name of a model. */
  subject?: string;
  kind?: ActionKind;
  /** Account of an administrator. */
  actor?: string;
  /** From 1. */
  page?: number;
}

/** From an address; whatever means nothing is left out. */
export const auditSearch = ({ subject, kind, actor, page }: Record<string, unknown>): AuditSearch => {
  const known = ACTION_KINDS.find(({ value }) => value === kind)?.value;
  return {
    ...(isText(subject) && { subject: subject.trim() }),
    ...(known && { kind: known }),
    ...(isText(actor) && { actor }),
    ...(typeof page === 'number' && Number.isInteger(page) && page > 1 && { page }),
  };
};

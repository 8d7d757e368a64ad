/** A statement about money and alerts that is always true. Its query gives one `subject` per violation, and no row if it holds. */
export interface Invariant {
  /** Short and stable: the label of the metric. */
  name: string;
  guarantee: string;
  sql: string;
}

/** A statement about money and alerts that must always be true. Its query returns one `subject` per violation. */
export interface Invariant {
  /** Short and stable: the label of the metric. */
  name: string;
  guarantee: string;
  sql: string;
}

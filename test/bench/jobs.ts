/** Events of a whole stream, the end not counted. */
export const CHUNKS = 100;

/** What the generator is asked to do; it answers each job with one result. */
export interface Target {
  port: number;
  /** Bearers, taken in turn by connections. */
  keys: string[];
  /** More header lines, each with its line end. */
  headers: string;
}

export type Job =
  /** As many requests as the target takes on so many connections. */
  | { kind: 'saturate'; target: Target; connections: number; ms: number }
  /** Requests at a steady rate, whatever the answers take. */
  | { kind: 'paced'; target: Target; perSecond: number; ms: number }
  /** Whole streams, all at once, each verified. */
  | { kind: 'streams'; target: Target; count: number; chunks: number }
  /** Short streams at a steady rate, for the time to the first byte of the first event. */
  | { kind: 'first-bytes'; target: Target; perSecond: number; ms: number }
  /** Opens streams that stay at their first event; `release` ends them. */
  | { kind: 'hold'; target: Target; count: number }
  | { kind: 'release' };

export interface Result {
  answers: number;
  /** Answers that were not 200, broke, or lacked, repeated or reordered an event. */
  bad: number;
  ms: number;
  /** Latencies in milliseconds, where the job measures them. */
  latencies: number[];
  /** `x-request-id` of every answer that was 200, whole or begun: each has to have a usage row. */
  ids: string[];
  /** What the first few others were. */
  failures: string[];
}

/** Events of a whole stream, without its end. */
export const CHUNKS = 100;

/** A job of the generator, which replies to each with one result. */
export interface Target {
  port: number;
  /** Bearers, taken in turn by connections. */
  keys: string[];
  /** More header lines, each with its line end. */
  headers: string;
}

export type Job =
  /** As many requests as the target can serve on this many connections. */
  | { kind: 'saturate'; target: Target; connections: number; ms: number }
  /** Requests at a steady rate, however long responses take. */
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
  /** Responses that were not 200, broke, or lacked, repeated or reordered an event. */
  bad: number;
  ms: number;
  /** Latencies in milliseconds, if the job measures them. */
  latencies: number[];
  /** `x-request-id` of every response with status 200, complete or not. Each must have a usage row. */
  ids: string[];
  /** The first few other responses. */
  failures: string[];
}

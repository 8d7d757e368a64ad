/** What the driver is told by those who measure and those who attack, each a process of its own. */
export interface Latency {
  requests: number;
  p50: number;
  p99: number;
}

export interface Cuts {
  /** Senders of headers, and of bodies, byte by byte: how long each was borne, in milliseconds. */
  headersMs: number[];
  bodiesMs: number[];
  /** Slow senders that are still there. */
  open: number;
}

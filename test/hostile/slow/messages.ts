/** Reports to the driver from the measuring and the attacking processes. */
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

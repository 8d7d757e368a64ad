import { Counter, Gauge, type Registry } from 'prom-client';
import type { Endpoint, UsageRecord } from '../metering/usage-record.js';
import { talliedHistogram } from './tallied-histogram.js';

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];

const FLAGS = ['estimated', 'anomalous', 'client_aborted'];

/** Parts that are dropped from upstream answers: top-level members, or lines of a stream other than data. */
export type DroppedKind = 'member' | 'line';

/** Metrics of the inference path. Every name is explained in docs/operations.md. */
export interface CallMetrics {
  /** A call has ended for its client. `code` is `ok` or the error code. */
  answered(endpoint: string, code: string): void;
  recorded(record: UsageRecord): void;
  /** A node reported zero tokens for an answer. `deployment` is undefined if the upstream doesn't name it. */
  uncounted(deployment: string | undefined): void;
  dropped(endpoint: Endpoint, kind: DroppedKind, count: number): void;
  /** Refused calls that their owners won't see, for lack of memory. */
  refusalsLost(calls: number): void;
  /** The version of a prompt that a call names isn't an id. */
  malformedVersion(): void;
  /** Sets the source of the gauge of request bodies in memory. */
  bodyBytes(read: () => number): void;
}

/**
 * A counter with two labels that adds up plain numbers and fills prom-client's counter when it is scraped. prom-client sorts
 * and joins the labels at every increment; a map with both labels as its key would have to join them too.
 */
function tally(
  options: { name: string; help: string; labelNames: [string, string] },
  registry: Registry,
): (value: number, first: string, second: string) => void {
  const sums = new Map<string, Map<string, { value: number }>>();
  const [firstName, secondName] = options.labelNames;
  new Counter({
    ...options,
    registers: [registry],
    collect() {
      this.reset();
      for (const [first, inner] of sums) {
        for (const [second, { value }] of inner)
          this.inc({ [firstName]: first, [secondName]: second }, value);
      }
    },
  });
  return (value, first, second) => {
    let inner = sums.get(first);
    if (!inner) {
      inner = new Map();
      sums.set(first, inner);
    }
    const sum = inner.get(second);
    if (sum) sum.value += value;
    else inner.set(second, { value });
  };
}

export function createCallMetrics(registry: Registry): CallMetrics {
  const registers = [registry];
  const requests = tally(
    {
      name: 'gateway_requests_total',
      help: 'Responses of /v1 and to messages of widgets, by endpoint and code (ok or the error code)',
      labelNames: ['endpoint', 'code'],
    },
    registry,
  );
  const latency = talliedHistogram(
    {
      name: 'gateway_call_seconds',
      help: 'Time from admission to the last byte of the upstream',
      buckets: SECONDS,
      label: { name: 'endpoint', values: ['chat', 'embeddings'] satisfies Endpoint[] },
    },
    registry,
  );
  const firstToken = talliedHistogram(
    {
      name: 'gateway_first_token_seconds',
      help: 'Time from admission to the first token of a stream',
      buckets: SECONDS,
    },
    registry,
  );
  const tokens = tally(
    {
      name: 'gateway_tokens_total',
      help: 'Tokens of successful calls by served model and direction',
      labelNames: ['model', 'direction'],
    },
    registry,
  );
  const dropped = tally(
    {
      name: 'gateway_dropped_answer_parts_total',
      help: 'Fields and lines of upstream responses that were dropped',
      labelNames: ['endpoint', 'kind'],
    },
    registry,
  );
  const flags = new Counter({
    name: 'gateway_flagged_events_total',
    help: 'Usage events that are estimated, anomalous or cut off by the client',
    labelNames: ['flag'],
    registers,
  });
  // Start at zero: an alerting rule on an increase misses a counter that appears with its first event.
  for (const flag of FLAGS) flags.inc({ flag }, 0);
  const uncounted = new Counter({
    name: 'gateway_uncounted_answers_total',
    help: 'Answers for which their node reported zero tokens: free and anomalous',
    labelNames: ['deployment'],
    registers,
  });
  const refusalsLost = new Counter({
    name: 'gateway_refused_calls_lost_total',
    help: 'Refused calls that their owners are not shown, for want of memory',
    registers,
  });
  const malformedVersions = new Counter({
    name: 'gateway_malformed_prompt_versions_total',
    help: 'Calls whose X-Gateway-Prompt-Version is no id: recorded without it',
    registers,
  });
  return {
    refusalsLost: (calls) => refusalsLost.inc(calls),
    uncounted: (deployment) => uncounted.inc({ deployment: deployment ?? '' }),
    malformedVersion: () => malformedVersions.inc(),
    answered: (endpoint, code) => requests(1, endpoint, code),
    dropped: (endpoint, kind, count) => dropped(count, endpoint, kind),
    bodyBytes(read) {
      new Gauge({
        name: 'gateway_request_body_bytes',
        help: 'Bytes of request bodies and unstreamed responses of calls and widgets in memory; an account beyond its share gets 503',
        registers,
        collect() {
          this.set(read());
        },
      });
    },
    recorded(record) {
      latency[record.endpoint]!.observe(record.latencyMs / 1000);
      if (record.ttftMs !== null) firstToken['']!.observe(record.ttftMs / 1000);
      if (record.status === 'success') {
        tokens(record.inputTokens, record.servedModel, 'input');
        tokens(record.outputTokens, record.servedModel, 'output');
      }
      if (record.estimated) flags.inc({ flag: 'estimated' });
      if (record.anomalous) flags.inc({ flag: 'anomalous' });
      if (record.clientAborted) flags.inc({ flag: 'client_aborted' });
    },
  };
}

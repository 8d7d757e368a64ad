import type { ProxyTime } from '../../src/router/time.js';

/** A deployment of a routing file that a test makes. */
export interface Node {
  /** The public model. */
  model: string;
  id: string;
  /** Without its `/v1`. */
  url: string;
  weight?: number;
  /** Seconds. */
  timeout?: number;
  /** Seconds. */
  streamTimeout?: number;
  /** Left out: both. */
  maxTokensField?: string;
  /** More of its `litellm_params`. */
  params?: Record<string, unknown>;
}

/** Nobody listens there. */
export const DEAD_URL = 'http://127.0.0.1:1';

/** Text of a routing file: JSON is YAML. `settings` are the file's `router_settings`; without them, the defaults apply. */
export function routes(nodes: readonly Node[], settings: Record<string, unknown> = {}): string {
  return JSON.stringify({
    model_list: nodes.map(({ model, id, url, weight, timeout, streamTimeout, maxTokensField, params }) => ({
      model_name: model,
      litellm_params: {
        model: `openai/internal-${id}`,
        api_base: `${url}/v1`,
        input_cost_per_token: 0.0000001,
        output_cost_per_token: 0.0000003,
        weight,
        timeout,
        stream_timeout: streamTimeout,
        ...params,
      },
      model_info: { id, max_tokens_field: maxTokensField },
    })),
    router_settings: settings,
  });
}

/** Time that a test moves by hand; a pause takes none of the test's, and is remembered. */
export interface TestTime extends ProxyTime {
  readonly pauses: number[];
  advance(milliseconds: number): void;
}

export function testTime(): TestTime {
  let now = 1_000;
  const pauses: number[] = [];
  return {
    pauses,
    now: () => now,
    advance(milliseconds) {
      now += milliseconds;
    },
    async pause(milliseconds) {
      pauses.push(milliseconds);
      now += milliseconds;
    },
  };
}

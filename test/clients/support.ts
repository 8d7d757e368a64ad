import OpenAI, { type ClientOptions } from 'openai';
import { costOf, type Money, parseMoney, pricePerToken } from '../../src/lib/money.js';
import type { ModelOutput } from '../../src/services/billing/billing.outputs.js';
import { type UsageRow, usageOf } from '../support/edge.js';
import { checkInvariants } from '../support/invariants.js';
import { type ProductSuite, useProduct } from '../support/product-suite.js';
import type { StackUser } from '../support/stack-callers.js';

/** Makes the simulator answer without its realistic pauses. */
export const FAST = '[[sim ttft_ms=1 chunk_ms=0]]';

/** Tokens as a client read them from an answer. */
export interface Tokens {
  model: string;
  input: number;
  output: number;
}

/** What clients call: the shared product, or a stack of the file's own. */
type Called = Pick<ProductSuite, 'url' | 'db' | 'signUp' | 'api' | 'settled'>;

export interface ClientSuite<Product extends Called = Called> {
  readonly product: Product;
  /** Somebody on plan `team`. */
  readonly user: StackUser;
  /** Address for SDKs, with its `/v1`. */
  readonly baseUrl: string;
  openai(options?: ClientOptions): OpenAI;
  /** The account's balance as the customer sees it, once all calls are written. */
  balance(user?: StackUser): Promise<Money>;
  /** What these tokens cost by the public price list. */
  priceOf(tokens: Tokens[]): Promise<Money>;
  /** The account's events, oldest first, once all calls are written. */
  usage(user?: StackUser): Promise<UsageRow[]>;
}

/** Gives a test file the product and a customer, and ends it with the proof that every invariant holds. */
export function useClients(): ClientSuite;
export function useClients<Product extends Called>(use: () => Product): ClientSuite<Product>;
export function useClients(use: () => Called = useProduct): ClientSuite {
  // Before the end of a stack of the file's own.
  afterAll(async () => {
    await product.settled();
    expect(await checkInvariants(product.db.pool)).toEqual([]);
  });
  const product = use();
  let somebody: StackUser;
  beforeAll(async () => {
    somebody = await product.signUp();
  });
  return {
    product,
    get user() {
      return somebody;
    },
    get baseUrl() {
      return `${product.url}/v1`;
    },
    openai: (settings = {}) =>
      new OpenAI({ apiKey: somebody.key, baseURL: `${product.url}/v1`, maxRetries: 0, ...settings }),
    async balance(user = somebody) {
      await product.settled();
      const answer = await product.api<{ balance_usd: string }>(user.token, 'GET', '/api/billing/balance');
      return parseMoney(answer.balance_usd);
    },
    async priceOf(tokens) {
      const models = await product.api<ModelOutput[]>('', 'GET', '/api/models');
      return tokens.reduce((sum, { model, input, output }) => {
        const found = models.find(({ model_public_name: name }) => name === model);
        if (!found) throw new Error(`no price for ${model}`);
        const { input_price_per_million_usd: priceIn, output_price_per_million_usd: priceOut } = found;
        return sum + costOf(input, output, pricePerToken(priceIn), pricePerToken(priceOut));
      }, 0n);
    },
    async usage(user = somebody) {
      await product.settled();
      return usageOf(product.db, user.accountId);
    },
  };
}

export interface SeenCall {
  url: string;
  /** As the client sent it. */
  body: Record<string, unknown>;
  headers: Headers;
  status: number;
  requestId: string | null;
  retryAfterMs: number;
  /** When the answer's head came, milliseconds. */
  at: number;
}

/** A fetch for SDKs that remembers each call: what a client really sent, how often it tried. */
export function watchedFetch(): { fetch: typeof fetch; calls: SeenCall[] } {
  const calls: SeenCall[] = [];
  return {
    calls,
    async fetch(input, init) {
      const response = await fetch(input, init).catch((error: unknown) => {
        throw inThisRealm(error);
      });
      calls.push({
        url: input instanceof Request ? input.url : String(input),
        body: typeof init?.body === 'string' ? (JSON.parse(init.body) as Record<string, unknown>) : {},
        headers: new Headers(init?.headers),
        status: response.status,
        requestId: response.headers.get('x-request-id'),
        retryAfterMs: Number(response.headers.get('retry-after-ms')),
        at: performance.now(),
      });
      return response;
    },
  };
}

/**
 * Node's own errors are no instance of jest's `Error`; the openai client then forgets their name and takes a timeout
 * for a broken connection.
 */
function inThisRealm(error: unknown): unknown {
  if (error instanceof Error || typeof error !== 'object' || error === null) return error;
  const { name, message } = error as Error;
  return Object.assign(new Error(message, { cause: error }), { name });
}

/** What a call throws; fails when it doesn't. */
export async function thrownBy(run: () => PromiseLike<unknown>): Promise<unknown> {
  try {
    await run();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

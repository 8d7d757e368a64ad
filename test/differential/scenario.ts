import type { Needs } from './build.js';
import type { Script } from './node.js';
import type { Sent } from './send.js';

/** One request of a scenario. */
export type Step = {
  /** What the nodes do with it; `marker(id)` in the body names it. */
  script?: Script;
} & ({ sent: Sent } | { pipelined: readonly Sent[] } | { bytes: string });

/** Requests in the name of one account, one after another. Scenarios run beside each other. */
export interface Scenario {
  name: string;
  needs: Needs;
  /** `parking` runs with deployments that cool down after failures. */
  where?: 'patient' | 'parking';
  steps: readonly Step[];
}

/** A step by its id. */
export type MakeStep = (id: string) => Step;

/** Number of an account's calls that all limits allow per minute. */
const PER_ACCOUNT = 40;

/** Groups steps into scenarios of at most `perAccount` steps each. They are made at once, so that random values are drawn in order. */
export function scenariosOf(
  name: string,
  steps: readonly MakeStep[],
  { needs = {}, perAccount = PER_ACCOUNT }: { needs?: Needs; perAccount?: number } = {},
): Scenario[] {
  return Array.from({ length: Math.ceil(steps.length / perAccount) }, (_, i) => ({
    name: `${name}-${i}`,
    needs,
    steps: steps.slice(i * perAccount, (i + 1) * perAccount).map((make, n) => make(`${name}-${i}/${n}`)),
  }));
}

/** What the nodes do, by the id of the step. */
export const scriptsOf = (scenarios: readonly Scenario[]): Map<string, Script> =>
  new Map(
    scenarios.flatMap(({ name, steps }) =>
      steps.flatMap(({ script }, i): [string, Script][] => (script ? [[`${name}/${i}`, script]] : [])),
    ),
  );

const JSON_TYPE = { 'content-type': 'application/json' };
const asText = (body: unknown): string | Buffer =>
  typeof body === 'string' || body instanceof Buffer ? body : JSON.stringify(body);

/** A request to `/v1` with the account's key. */
export const toV1 = (path: string, body: unknown, headers: Record<string, string> = {}): Sent => ({
  method: 'POST',
  path: `/v1${path}`,
  headers: { authorization: 'Bearer {key}', ...JSON_TYPE, ...headers },
  body: asText(body),
});

export const chatBody = (
  content: unknown,
  fields: Record<string, unknown> = {},
): Record<string, unknown> => ({
  model: 'gateway/fast',
  messages: [{ role: 'user', content }],
  ...fields,
});

/** A message to the account's widget. */
export const toWidget = (body: unknown, headers: Record<string, string> = {}): Sent => ({
  method: 'POST',
  path: '/api/widget/chat',
  headers: { ...JSON_TYPE, origin: 'https://shop.example', ...headers },
  body: asText(body),
});

/** A request to the platform in the account's session. */
export const toPlatform = (path: string, body: unknown): Sent => ({
  method: 'POST',
  path,
  headers: { authorization: 'Bearer {token}', ...JSON_TYPE },
  body: asText(body),
});

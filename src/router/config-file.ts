import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Pair,
  parseDocument,
  Scalar,
  type YAMLMap,
} from 'yaml';
import { placeOf, plainWords } from '../lib/field-issues.js';
import { isAzureV1, type RoutingFile, routingFile } from './config-schema.js';
import { inMs, toDeployments } from './deployment-entries.js';
import { ignoredKeys } from './ignored-keys.js';
import type { Routing } from './routing.js';
import { Secret } from './secret.js';

/** The variable for the bundled simulator's URL. */
export const SIMULATOR_VARIABLE = 'SIMULATOR_API_BASE';
const REFERENCE = /^os\.environ\/(.+)$/;
const COST_KEYS = new Set(['input_cost_per_token', 'output_cost_per_token']);

/** All errors of a routing file, one line each: `proxy.config.yaml:12: model_list[0]… what is wrong`. */
export class RoutingFileError extends Error {
  constructor(readonly lines: string[]) {
    super(lines.join('\n'));
    this.name = 'RoutingFileError';
  }
}

type Path = (string | number)[];
type Environment = Readonly<Record<string, string | undefined>>;

/** Whether a pair merges other maps, as in YAML 1.1, which LiteLLM reads. A quoted `<<` is an ordinary name. */
const isMerge = ({ key }: Pair): boolean => isScalar(key) && key.value === '<<' && key.type === Scalar.PLAIN;

/** Converts the YAML document to plain values, resolves the references that the router reads, and collects faults. */
class Reader {
  readonly faults: string[] = [];
  readonly simulated = new Set<number>();

  constructor(
    private readonly document: Document,
    private readonly counter: LineCounter,
    private readonly name: string,
    private readonly environment: Environment,
  ) {}

  /** Line of the value at `path`, or of its nearest existing parent. */
  private line(path: Path): number {
    for (let length = path.length; length >= 0; length--) {
      const node = length === 0 ? this.document.contents : this.document.getIn(path.slice(0, length), true);
      const range = (node as { range?: [number, number, number] | null } | undefined)?.range;
      if (range) return this.counter.linePos(range[0]).line;
    }
    return 1;
  }

  fault(path: Path, message: string): void {
    const where = path.length > 0 ? `${placeOf(path)}: ` : '';
    this.faults.push(`${this.name}:${this.line(path)}: ${where}${message}`);
  }

  read(node: unknown, path: Path = []): unknown {
    if (isMap(node)) {
      const entries = [...this.members(node, path)];
      return Object.fromEntries(entries.map(([name, value]) => [name, this.read(value, [...path, name])]));
    }
    if (isSeq(node)) return node.items.map((item, index) => this.read(item, [...path, index]));
    if (isAlias(node)) {
      const target = this.target(node);
      if (target === undefined) this.fault(path, 'the alias names no anchor');
      return this.read(target, path);
    }
    if (!isScalar(node)) return undefined;
    if (typeof node.value === 'number') {
      // Prices stay text so that they never pass through a float.
      return COST_KEYS.has(String(path.at(-1))) ? (node.source ?? String(node.value)) : node.value;
    }
    if (typeof node.value === 'string') return this.resolve(node.value, path);
    return node.value ?? undefined;
  }

  /** Members of a map by name, with those it merges. Its own members win, then those of the first merged map. */
  private members(map: YAMLMap, path: Path): Map<string, unknown> {
    const members = new Map<string, unknown>();
    for (const { value } of map.items.filter(isMerge)) {
      const source = this.target(value);
      for (const one of isSeq(source) ? source.items.toReversed() : [source]) {
        const from = this.target(one);
        if (!isMap(from)) this.fault(path, '<< must name a map or a list of maps');
        else for (const [name, merged] of this.members(from, path)) members.set(name, merged);
      }
    }
    for (const pair of map.items) {
      const { key, value } = pair;
      if (!isMerge(pair)) members.set(String(isScalar(key) ? key.value : key), value);
    }
    return members;
  }

  private target(node: unknown): unknown {
    return isAlias(node) ? node.resolve(this.document) : node;
  }

  private resolve(text: string, path: Path): string | undefined {
    const name = REFERENCE.exec(text)?.[1];
    const isMasterKey = path[0] === 'general_settings' && path[1] === 'master_key';
    // References that only LiteLLM reads needn't resolve here.
    if (name === undefined || !(path[0] === 'model_list' || isMasterKey)) return text;
    if (name === SIMULATOR_VARIABLE && typeof path[1] === 'number') this.simulated.add(path[1]);
    const value = this.environment[name];
    if (value) return value;
    if (!isMasterKey) this.fault(path, `the environment variable ${name} is not set`);
    return undefined;
  }
}

function toRouting(file: RoutingFile, simulated: ReadonlySet<number>): Routing {
  const settings = file.router_settings;
  const { master_key: masterKey } = file.general_settings;
  return {
    deployments: toDeployments(file.model_list, simulated),
    settings: {
      strategy: settings.routing_strategy,
      numRetries: settings.num_retries,
      retryAfterMs: settings.retry_after * 1000,
      allowedFails: settings.allowed_fails,
      cooldownMs: settings.cooldown_time * 1000,
      timeoutMs: inMs(settings.timeout),
      fallbacks: new Map(settings.fallbacks.flatMap((entry) => Object.entries(entry))),
    },
    masterKey: masterKey === undefined ? undefined : new Secret(masterKey),
    ignored: ignoredKeys(file),
  };
}

/** Faults that the schema can't express: duplicate ids, Azure without a version, and fallbacks that don't exist. */
function crossFaults(file: RoutingFile, reader: Reader): void {
  const firstWithId = new Map<string, number>();
  for (const [index, entry] of file.model_list.entries()) {
    const first = firstWithId.get(entry.model_info.id);
    if (first === undefined) firstWithId.set(entry.model_info.id, index);
    else {
      const message = `"${entry.model_info.id}" is the id of model_list[${first}] already`;
      reader.fault(['model_list', index, 'model_info', 'id'], message);
    }
  }
  for (const [index, { litellm_params: params }] of file.model_list.entries()) {
    if (!params.model.azure || params.api_version !== undefined || isAzureV1(params.api_base)) continue;
    reader.fault(
      ['model_list', index, 'litellm_params', 'api_base'],
      'needs an api_version, or must end with /openai/v1',
    );
  }
  const groups = new Set(file.model_list.map((entry) => entry.model_name));
  for (const [index, entry] of file.router_settings.fallbacks.entries()) {
    for (const [primary, targets] of Object.entries(entry)) {
      for (const name of [primary, ...targets]) {
        if (groups.has(name)) continue;
        reader.fault(
          ['router_settings', 'fallbacks', index, primary],
          `no deployment has the model_name ${name}`,
        );
      }
    }
  }
}

/** `BAD_INDENT` becomes `not valid YAML (bad indent)`. */
const yamlFault = (code: string): string => `not valid YAML (${code.toLowerCase().replaceAll('_', ' ')})`;

/**
 * Reads a routing file's text in the form that LiteLLM's proxy reads.
 * @throws RoutingFileError with one line per fault.
 */
export function parseRouting(text: string, name: string, environment: Environment): Routing {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, prettyErrors: false });
  if (document.errors.length > 0) {
    throw new RoutingFileError(
      // The parser's messages quote the file, keys of nodes included.
      document.errors.map(({ code, pos }) => `${name}:${counter.linePos(pos[0]).line}: ${yamlFault(code)}`),
    );
  }
  const reader = new Reader(document, counter, name, environment);
  const raw = reader.read(document.contents) ?? {};
  const result = routingFile.safeParse(raw);
  if (result.success) crossFaults(result.data, reader);
  else {
    for (const issue of result.error.issues) {
      const path = issue.path.filter((part) => typeof part !== 'symbol');
      const missing = issue.code === 'invalid_type' && issue.input === undefined;
      // A reference that didn't resolve has been reported with its own reason.
      if (reader.faults.some((line) => line.includes(`: ${placeOf(path)}: the environment variable`)))
        continue;
      const words = plainWords(issue.message);
      reader.fault(path, missing && words !== 'is required' ? `${words} (it is missing)` : words);
    }
  }
  if (reader.faults.length > 0 || !result.success) throw new RoutingFileError(reader.faults);
  return toRouting(result.data, reader.simulated);
}

/** The text of a routing file. @throws RoutingFileError when it can't be read. */
function readRoutingText(path: string): { text: string; name: string } {
  const name = basename(path);
  try {
    return { text: readFileSync(path, 'utf8'), name };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new RoutingFileError([`${path}: can't be read (${code}); PROXY_CONFIG names the routing file`]);
  }
}

/** Placeholder for the simulator's address while no call is sent there. */
const NO_SIMULATOR = 'http://127.0.0.1/v1';

/**
 * Reads a routing file. When no simulator is running, the routing is only for inspection: don't send calls with it.
 * @throws RoutingFileError with one line per fault.
 */
export function readRouting(config: { proxyConfigPath: string; environment: Environment }): {
  routing: Routing;
  name: string;
} {
  const { text, name } = readRoutingText(config.proxyConfigPath);
  const simulator = config.environment[SIMULATOR_VARIABLE] || NO_SIMULATOR;
  const routing = parseRouting(text, name, { ...config.environment, [SIMULATOR_VARIABLE]: simulator });
  return { routing, name };
}

/** Whether some deployment points at the bundled simulator. */
export const wantsSimulator = (routing: Routing): boolean =>
  routing.deployments.some(({ simulated }) => simulated);

/**
 * One line that says why this routing must not serve in production, or undefined. Nobody is billed for a
 * simulation by accident.
 */
export function simulatorFault(
  routing: Routing,
  config: { production: boolean; allowSimulator: boolean },
): string | undefined {
  const names = routing.deployments.filter(({ simulated }) => simulated).map(({ group }) => group);
  if (!config.production || config.allowSimulator || names.length === 0) return undefined;
  return `PROXY_CONFIG: ${[...new Set(names)].join(', ')} point at the simulator; give them real nodes, or set ALLOW_SIMULATOR=1`;
}

/**
 * One line that says why this master key must not serve, or undefined. Edge and platform send `UPSTREAM_MASTER_KEY`:
 * with another one here every call of theirs would be refused.
 */
export function masterKeyFault(
  { masterKey }: Routing,
  name: string,
  { upstreamMasterKey }: { upstreamMasterKey: string },
): string | undefined {
  if (masterKey === undefined || masterKey.read() === upstreamMasterKey) return undefined;
  return `${name}: general_settings.master_key is not UPSTREAM_MASTER_KEY, which edge and platform send; write os.environ/UPSTREAM_MASTER_KEY there, or set the variable to the same value for all processes`;
}

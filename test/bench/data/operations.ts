import { readFileSync } from 'node:fs';
import { parse } from 'graphql';
import { request } from 'undici';
import { loadWebBuild } from '../../../src/pages/web-build.js';
import { call } from '../../support/api.js';
import { WHO, type Who } from './accounts.js';
import { adminDocumentVariants, documentVariants, UNMEASURED_DOCUMENTS } from './documents.js';
import { adminRouteVariants, routeVariants, UNMEASURED_ROUTES } from './routes.js';
import type { Subject } from './subjects.js';

/** One request that reads. */
export interface Operation {
  name: string;
  as: readonly Who[];
  /** @throws Error unless it succeeds. */
  run(url: string, subject: Subject): Promise<void>;
}

const ADMIN: readonly Who[] = ['admin'];
/** So much of a file is read; the next page is then underway. */
const CSV_BYTES = 64 * 1024;

/**
 * Every query of the dashboard and every GET of the API, in each of its variants.
 * @throws Error for one that has no variants, or no longer exists.
 */
export function operations(subject: Subject): Operation[] {
  return [...documents(subject), ...routes(subject)];
}

function documents(subject: Subject): Operation[] {
  const queries = new Map(
    [...loadWebBuild()!.documents.values()].flatMap((text) =>
      parse(text).definitions.flatMap((one) =>
        one.kind === 'OperationDefinition' && one.operation === 'query'
          ? [[one.name!.value, text] as const]
          : [],
      ),
    ),
  );
  requireAll('query', [...queries.keys()], [documentVariants, adminDocumentVariants, UNMEASURED_DOCUMENTS]);
  const of = (variants: typeof documentVariants, as: readonly Who[]): Operation[] =>
    Object.entries(variants).flatMap(([name, variantsOf]) =>
      variantsOf(subject).map(({ note }, i) => ({
        name: note ? `${name}, ${note}` : name,
        as,
        run: (url: string, whose: Subject) => ask(url, whose, queries.get(name)!, variantsOf(whose)[i]!.with),
      })),
    );
  return [...of(documentVariants, WHO), ...of(adminDocumentVariants, ADMIN)];
}

function routes(subject: Subject): Operation[] {
  const { paths } = JSON.parse(readFileSync('schema/openapi.json', 'utf8')) as {
    paths: Record<string, { get?: unknown }>;
  };
  const known = Object.keys(paths).filter((path) => paths[path]!.get);
  requireAll('GET', known, [routeVariants, adminRouteVariants, UNMEASURED_ROUTES]);
  const of = (variants: typeof routeVariants, as: readonly Who[]): Operation[] =>
    Object.entries(variants).flatMap(([path, variantsOf]) =>
      variantsOf(subject).map(({ note }, i) => ({
        name: note ? `GET ${path}, ${note}` : `GET ${path}`,
        as,
        run: (url: string, whose: Subject) => get(url + variantsOf(whose)[i]!.with, whose),
      })),
    );
  return [...of(routeVariants, WHO), ...of(adminRouteVariants, ADMIN)];
}

function requireAll(
  kind: string,
  existing: readonly string[],
  lists: readonly (object | Set<string>)[],
): void {
  const listed = new Set(lists.flatMap((list) => (list instanceof Set ? [...list] : Object.keys(list))));
  const faults = [
    ...existing.filter((name) => !listed.has(name)).map((name) => `${kind} ${name} has no arguments here`),
    ...[...listed]
      .filter((name) => !existing.includes(name))
      .map((name) => `${kind} ${name} no longer exists`),
  ];
  if (faults.length > 0) throw new Error(`test/bench/data: ${faults.join('; ')}`);
}

async function ask(url: string, { token }: Subject, query: string, variables: object): Promise<void> {
  const answer = await call<{ errors?: object[] }>(url, 'POST', '/graphql', {
    token,
    body: { query, variables },
  });
  if (answer.status !== 200 || answer.body.errors)
    throw new Error(`answered ${answer.status}: ${answer.text}`);
}

async function get(url: string, { token }: Subject): Promise<void> {
  const { statusCode, body } = await request(url, { headers: { authorization: `Bearer ${token}` } });
  if (statusCode !== 200) throw new Error(`answered ${statusCode}: ${await body.text()}`);
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // The rest of a file costs as much again for each page.
    if (url.includes('.csv') && bytes > CSV_BYTES) break;
  }
}

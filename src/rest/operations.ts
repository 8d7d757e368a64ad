import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { z } from 'zod';
import type { Services } from '../services.js';
import { type DeclaredError, errorResponses, noContent } from './error-responses.js';
import type { RestApp } from './rest-app.js';
import type { ApiRouteRules, RouteConfig } from './route-rules.js';

type Schema = z.ZodType | undefined;
type Checked<S> = S extends z.ZodType ? z.output<S> : undefined;

/** The content of a response: a body, none (with the reason), or media types other than JSON. */
type Answer = z.ZodType | string | { description: string; content: Record<string, { schema: z.ZodType }> };
type Answered<A> = A extends z.ZodType ? z.output<A> : A extends string ? z.output<z.ZodVoid> : unknown;

/** A request that has passed the operation's schemas. */
type CheckedRequest<Params, Query, Body, Headers> = Pick<FastifyRequest, 'context'> & {
  params: Checked<Params>;
  query: Checked<Query>;
  body: Checked<Body>;
  headers: FastifyRequest['headers'] & (Headers extends z.ZodType ? z.output<Headers> : unknown);
};

interface Operation<Params, Query, Body, Headers, Returns extends Record<number, Answer>> {
  operationId: string;
  /** Section of the API reference; by default that of the file. */
  tag?: string;
  summary: string;
  description: string;
  params?: Params;
  query?: Query;
  body?: Body;
  headers?: Headers;
  /** By status. `run` answers with the first status below 300, unless it sets another. */
  returns: Returns;
  /** Statuses and codes in addition to those of every operation of this kind. */
  errors?: readonly DeclaredError[];
  /** False where a HEAD would read everything and send nothing. */
  exposeHeadRoute?: false;
  run(
    request: CheckedRequest<Params, Query, Body, Headers>,
    reply: FastifyReply,
  ): Promise<Answered<Returns[keyof Returns]> | undefined> | Answered<Returns[keyof Returns]>;
}

const OF_API = '/api/';
const NO_QUERY = z.strictObject({});
/** The body of a write without fields. Clients that send JSON with every write send null or `{}`. */
export const noBody = z.strictObject({}).nullish();

/** Registers the operations of one section of the API reference. */
type Operations = ReturnType<typeof operations>;

/**
 * Returns a function that registers operations under a tag. Its possible errors and who may call it follow from its
 * rules and schemas, so the API reference can't promise anything else than the hooks do; `errors` lists only those of
 * the service. Below `/api`, an operation without a query or a body refuses any fields in it, just as one with a
 * schema refuses unknown fields.
 */
export function operations(app: RestApp, section: string) {
  return <
    Params extends Schema = undefined,
    Query extends Schema = undefined,
    Body extends Schema = undefined,
    Headers extends Schema = undefined,
    const Returns extends Record<number, Answer> = never,
  >(
    route: `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`,
    config: RouteConfig,
    operation: Operation<Params, Query, Body, Headers, Returns>,
  ): void => {
    const [method, url] = route.split(' ') as [string, string];
    const { tag = section, params, query, body, headers, returns, errors = [], ...rest } = operation;
    const { exposeHeadRoute, run, ...texts } = rest;
    const querystring = query ?? (url.startsWith(OF_API) ? NO_QUERY : undefined);
    const checkedBody = body ?? (url.startsWith(OF_API) && isWrite(config.rules) ? noBody : undefined);
    const status = Number(Object.keys(returns).find((code) => Number(code) < 300));
    const security = securityOf(config.rules);
    app.route({
      method,
      url,
      config,
      ...(exposeHeadRoute === false && { exposeHeadRoute }),
      schema: {
        ...texts,
        tags: [tag],
        ...(security && { security }),
        ...(params && { params }),
        ...(querystring && { querystring }),
        ...(checkedBody && { body: checkedBody }),
        ...(headers && { headers }),
        response: {
          ...errorResponses(
            config.rules.bodyLimitBytes,
            ...errorsOf(config.rules, { params, querystring }),
            ...errors,
          ),
          ...Object.fromEntries(Object.entries(returns).map(([code, answer]) => [code, asSchema(answer)])),
        },
      },
      handler: async (request, reply) => {
        if (status !== 200) reply.status(status);
        return run(request as never, reply);
      },
    } as RouteOptions as never);
  };
}

/** The routes of a domain, in one section of the API reference unless they name another. */
export const restRoutes =
  (section: string, register: (route: Operations, services: Services) => void) =>
  (app: RestApp, services: Services): void =>
    register(operations(app, section), services);

const asSchema = (answer: Answer) => (typeof answer === 'string' ? noContent(answer) : answer);

/** Who may call an operation, unless everybody with a session may. */
function securityOf({ auth }: ApiRouteRules): Record<string, string[]>[] | undefined {
  if (auth === 'none') return [];
  return auth === 'internal' ? [{ internal: [] }] : undefined;
}

const isWrite = ({ contentTypes }: ApiRouteRules): boolean => contentTypes.length > 0;

/** Errors of the hooks, by an operation's rules, and of the checks of its inputs. */
function errorsOf(
  rules: ApiRouteRules,
  { params, querystring }: { params: Schema; querystring: Schema },
): DeclaredError[] {
  const { auth } = rules;
  const writes = isWrite(rules);
  const errors: DeclaredError[] = [];
  if (auth !== 'none') errors.push(401);
  if (auth === 'admin' || (auth === 'session' && writes)) errors.push(403);
  if (params) errors.push(404);
  if (writes) errors.push(415);
  if (querystring) errors.push(422);
  return errors;
}

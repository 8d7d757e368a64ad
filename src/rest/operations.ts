import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { z } from 'zod';
import type { Services } from '../services.js';
import { type DeclaredError, errorResponses, noContent } from './error-responses.js';
import type { RestApp } from './rest-app.js';
import type { ApiRouteRules, RouteConfig } from './route-rules.js';

type Schema = z.ZodType | undefined;
type Checked<S> = S extends z.ZodType ? z.output<S> : undefined;

/** What a status brings: a body, none (and when that happens), or other media types than JSON. */
type Answer = z.ZodType | string | { description: string; content: Record<string, { schema: z.ZodType }> };
type Answered<A> = A extends z.ZodType ? z.output<A> : A extends string ? z.output<z.ZodVoid> : unknown;

/** A request whose parts have passed the operation's schemas. */
type CheckedRequest<Params, Query, Body, Headers> = Pick<FastifyRequest, 'context'> & {
  params: Checked<Params>;
  query: Checked<Query>;
  body: Checked<Body>;
  headers: FastifyRequest['headers'] & (Headers extends z.ZodType ? z.output<Headers> : unknown);
};

interface Operation<Params, Query, Body, Headers, Returns extends Record<number, Answer>> {
  operationId: string;
  /** Section of the API reference; that of the file where none is named. */
  tag?: string;
  summary: string;
  description: string;
  params?: Params;
  query?: Query;
  body?: Body;
  headers?: Headers;
  /** By status. The first status below 300 is the one that `run` answers with, unless it sets another. */
  returns: Returns;
  /** Statuses and codes beside those that every operation of this kind may answer with. */
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
/** The body of a write that takes none. Clients that send JSON with every write send null or `{}`. */
export const noBody = z.strictObject({}).nullish();

/** Registers the operations of one section of the API reference. */
type Operations = ReturnType<typeof operations>;

/**
 * Returns what registers operations under a tag. From its rules and schemas follow the errors that it may answer with and
 * who may call it, so that the API reference can't promise what the hooks don't do; `errors` names only what the service
 * adds. Below `/api`, an operation without a query or a body refuses fields in it, as one with a schema refuses unknown ones.
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

/** The routes of a domain, all of them in one section of the API reference where they don't name another. */
export const restRoutes =
  (section: string, register: (route: Operations, services: Services) => void) =>
  (app: RestApp, services: Services): void =>
    register(operations(app, section), services);

const asSchema = (answer: Answer) => (typeof answer === 'string' ? noContent(answer) : answer);

/** Who may call, where that isn't anybody with a session. */
function securityOf({ auth }: ApiRouteRules): Record<string, string[]>[] | undefined {
  if (auth === 'none') return [];
  return auth === 'internal' ? [{ internal: [] }] : undefined;
}

const isWrite = ({ contentTypes }: ApiRouteRules): boolean => contentTypes.length > 0;

/** What the hooks may refuse an operation with, by its rules, and the checks of its inputs. */
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

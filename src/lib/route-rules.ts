import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';

/** The rules that every route declares. Each process adds further rules, such as access. */
export interface RouteRulesBase {
  bodyLimitBytes: number;
}

/** A registered route with its rules. */
export type DeclaredRoute<Rules extends RouteRulesBase> = Rules & {
  method: string;
  /** In Fastify's notation: `/api/keys/:id`. */
  url: string;
};

declare module 'fastify' {
  interface FastifyContextConfig {
    rules?: RouteRulesBase;
  }
}

/** Fastify requires at least one byte; a route without a body never parses one. */
const SMALLEST_BODY_LIMIT = 1;

/**
 * Wants every route to declare its rules where it is defined (`config: { rules }`). What is enforced is read from the route
 * that a request was matched with, never from a path that is parsed again (requirements T11, R15).
 * @param check Throws for rules that don't hold together.
 * @returns The routes registered so far, HEAD left out.
 * @throws Error at registration of a route without rules, and what `check` throws.
 */
export function requireRules<Rules extends RouteRulesBase>(
  app: FastifyInstance,
  check: (route: DeclaredRoute<Rules>) => void = () => undefined,
): readonly DeclaredRoute<Rules>[] {
  const declared: DeclaredRoute<Rules>[] = [];
  app.addHook('onRoute', (route: RouteOptions) => {
    const rules = route.config?.rules as Rules | undefined;
    for (const method of [route.method].flat()) {
      if (!rules) throw new Error(`${method} ${route.url} doesn't declare its rules`);
      const entry = { ...rules, method, url: route.url };
      check(entry);
      if (method !== 'HEAD') declared.push(entry);
    }
    route.bodyLimit = Math.max(rules!.bodyLimitBytes, SMALLEST_BODY_LIMIT);
  });
  return declared;
}

/** The rules of the route that matched a request; undefined if none did. */
export function matchedRules<Rules extends RouteRulesBase>(request: FastifyRequest): Rules | undefined {
  return request.routeOptions.config.rules as Rules | undefined;
}

import { inspectPlatform } from '../../src/cli/openapi-document.js';
import type { DeclaredRoute } from '../../src/lib/route-rules.js';
import type { ApiRouteRules } from '../../src/rest/route-rules.js';

export type PlatformRoute = DeclaredRoute<ApiRouteRules>;

/** What every route of the platform declares. */
export const platformRoutes: readonly PlatformRoute[] = await inspectPlatform(({ routes }) => routes);

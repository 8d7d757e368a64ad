import type { ServiceContext } from '../context.js';
import type { Services } from '../services.js';

/** What loaders read with: the services, on behalf of the operation's viewer. */
export interface LoaderContext {
  /** First argument of every service method. */
  service: ServiceContext;
  services: Services;
}

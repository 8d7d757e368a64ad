import DataLoader from 'dataloader';
import type { UserOutput } from '../../services/accounts/accounts.outputs.js';
import { type Camel, camelCased } from '../case.js';
import type { LoaderContext } from '../loader-context.js';

/** Accounts by id; null for one that is gone or not the viewer's to see. */
export function accountsLoaders({ services, service }: LoaderContext) {
  return {
    users: new DataLoader<string, Camel<UserOutput> | null>(async (ids) => {
      const found = await services.accounts.findUsers(service, ids);
      const byId = new Map(found.map((user) => [user.id, camelCased(user)]));
      return ids.map((id) => byId.get(id) ?? null);
    }),
  };
}

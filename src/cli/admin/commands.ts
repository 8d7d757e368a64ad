import type { MikroORM } from '@mikro-orm/postgresql';
import type { z } from 'zod';
import type { Config } from '../../config.js';
import { COMMAND_LINE_SESSION, localContext, type ServiceContext } from '../../context.js';
import { WHOLE_INPUT, zodFieldIssues } from '../../lib/field-issues.js';
import { createLogger } from '../../lib/logger.js';
import { uuidOf } from '../../lib/uuid.js';
import { readRouting } from '../../router/config-file.js';
import { listUsersInput, updateUserInput } from '../../services/accounts/accounts.inputs.js';
import { createUsersService } from '../../services/accounts/users.service.js';
import { adjustCreditInput, listActionsInput } from '../../services/admin/admin.inputs.js';
import { createAdminService } from '../../services/admin/admin.service.js';
import { routingOfFile, routingOfProxy } from '../../services/admin/routing.js';
import { createBillingService } from '../../services/billing/billing.service.js';
import { createNodeInput, heartbeatsInput, updateNodeInput } from '../../services/nodes/nodes.inputs.js';
import { createNodesService } from '../../services/nodes/nodes.service.js';
import { notFound } from '../../services/not-found.js';

/** An account id that no account has. */
const NOBODY = '00000000-0000-0000-0000-000000000000';

/** The command line isn't a valid command; the message says why. */
export class UsageError extends Error {}

const users = createUsersService();

/** Parses and checks `name=value` words. @throws UsageError that names all faults */
function fields<Schema extends z.ZodType>(schema: Schema, words: readonly string[]): z.output<Schema> {
  const pairs = words.map((word) => {
    const at = word.indexOf('=');
    if (at < 1) throw new UsageError(`${word} is not NAME=VALUE`);
    return [word.slice(0, at), word.slice(at + 1)] as const;
  });
  const result = schema.safeParse(Object.fromEntries(pairs));
  if (result.success) return result.data;
  throw new UsageError(
    zodFieldIssues(result.error)
      .map(({ field, message }) => (field === WHOLE_INPUT ? message : `${field} ${message}`))
      .join('; '),
  );
}

/** Finds an account by its email address or ID. */
async function accountOf(context: ServiceContext, who: string | undefined): Promise<string> {
  if (!who) throw new UsageError('name an account by its email address or ID');
  const id = uuidOf(who);
  if (id !== undefined) return id;
  const found = await users.findUserByEmail(context, who);
  if (!found) throw new UsageError(`no account has the email address ${who}`);
  return found.id;
}

/**
 * Runs one command of `npm run admin` as the administrator of `context`.
 * @returns The value to print as JSON; undefined to print nothing.
 * @throws UsageError, and the AppErrors of the services
 */
export async function runCommand(
  context: ServiceContext,
  config: Config,
  [command, ...words]: readonly string[],
): Promise<unknown> {
  const askRouting =
    config.upstreamUrl === null
      ? routingOfFile(() => readRouting(config).routing)
      : routingOfProxy(config.upstreamUrl, config.upstreamMasterKey);
  const admin = createAdminService({ askRouting, config }, createBillingService());
  const nodes = createNodesService({ config });
  const [first, ...rest] = words;
  switch (command) {
    case 'users':
      return users.listUsers(context, fields(listUsersInput, words));
    case 'user': {
      const id = await accountOf(context, first);
      if (rest.length > 0) return users.updateUser(context, id, fields(updateUserInput, rest));
      return (await users.findUsers(context, [id]))[0] ?? Promise.reject(notFound('account'));
    }
    case 'credit':
      return admin.adjustCredit(context, await accountOf(context, first), fields(adjustCreditInput, rest));
    case 'nodes':
      return nodes.list(context, fields(heartbeatsInput, words));
    case 'register-node':
      return nodes.create(context, fields(createNodeInput, words));
    case 'node':
      if (!first) throw new UsageError('name a node by its ID');
      return rest.length === 0
        ? nodes.get(context, first)
        : nodes.update(context, first, fields(updateNodeInput, rest));
    case 'delete-node':
      if (!first) throw new UsageError('name a node by its ID');
      return nodes.remove(context, first);
    case 'actions':
      return admin.actions(context, fields(listActionsInput, words));
    case 'jobs':
      return admin.jobs(context);
    case 'routing':
      return admin.routing(context);
    default:
      throw new UsageError(command === undefined ? 'name a command' : `there is no command ${command}`);
  }
}

/** The context of an administrator without an account, who has a shell on the server. */
export const commandLineContext = (orm: MikroORM): ServiceContext =>
  localContext(
    { em: orm.em.fork(), log: createLogger('admin', 'silent'), network: 'cli' },
    {
      accountId: NOBODY,
      email: 'command line',
      role: 'admin',
      sessionId: COMMAND_LINE_SESSION,
      tokenVersion: 0,
    },
  );

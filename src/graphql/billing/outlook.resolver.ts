import { Ctx, FieldResolver, Resolver } from 'type-graphql';
import { Viewer } from '../accounts/accounts.types.js';
import { camelCased } from '../case.js';
import type { GraphqlContext } from '../context.js';
import { BalanceOutlook } from './outlook.types.js';

/** It reads a week of the account's roll-ups. */
const READING = 50;

@Resolver(() => Viewer)
export class ViewerOutlookResolver {
  @FieldResolver(() => BalanceOutlook, {
    description: 'How long the balance lasts.',
    complexity: ({ childComplexity }) => READING + childComplexity,
  })
  async balanceOutlook(@Ctx() { services, service }: GraphqlContext): Promise<BalanceOutlook> {
    return camelCased(await services.outlook.outlook(service));
  }
}

import { Ctx, Query, Resolver } from 'type-graphql';
import { Allow } from '../access.js';
import { camelCased } from '../case.js';
import type { GraphqlContext } from '../context.js';
import { Installation } from './installation.types.js';

@Resolver()
export class InstallationResolver {
  @Allow('public')
  @Query(() => Installation, { description: 'Public settings of this installation.' })
  installation(@Ctx() { services }: GraphqlContext): Installation {
    return camelCased(services.installation.describe());
  }
}

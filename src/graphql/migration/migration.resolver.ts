import { Arg, Ctx, Query, Resolver } from 'type-graphql';
import { estimateInput } from '../../services/migration/migration.inputs.js';
import { estimateOutput } from '../../services/migration/migration.outputs.js';
import { Allow } from '../access.js';
import { camelCased } from '../case.js';
import type { GraphqlContext } from '../context.js';
import { checked } from '../input.js';
import { MigrationEstimate, MigrationEstimateInput } from './migration.types.js';

@Resolver()
export class MigrationResolver {
  @Allow('public')
  @Query(() => MigrationEstimate, { description: estimateOutput.description ?? '' })
  migrationEstimate(
    @Arg('input', () => MigrationEstimateInput, { description: 'What you use today.' })
    input: MigrationEstimateInput,
    @Ctx() { services }: GraphqlContext,
  ): MigrationEstimate {
    return camelCased(services.migration.estimate(checked(estimateInput, input)));
  }
}

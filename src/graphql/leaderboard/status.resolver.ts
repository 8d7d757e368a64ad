import { Ctx, ObjectType, Query, Resolver } from 'type-graphql';
import {
  incidentOutput,
  statusDayOutput,
  statusModelOutput,
  statusOutput,
} from '../../services/leaderboard/status.outputs.js';
import { Allow } from '../access.js';
import { camelCased } from '../case.js';
import type { GraphqlContext } from '../context.js';
import { enumOf } from '../enum-of.js';
import { outputFields } from '../zod-fields.js';

const ModelState = enumOf('ModelState', 'Current state of a model.', statusModelOutput.shape.state, {
  operational: 'Calls succeed.',
  degraded: 'More than 5 % of the calls of the last hour failed.',
  no_data: 'There were no calls in the last 24 hours.',
});

@ObjectType({ description: statusDayOutput.description })
class StatusDay extends outputFields(statusDayOutput) {}

@ObjectType({ description: statusModelOutput.description })
class StatusModel extends outputFields(statusModelOutput, { state: ModelState, days: [StatusDay] }) {}

@ObjectType({ description: incidentOutput.description })
class Incident extends outputFields(incidentOutput) {}

@ObjectType({ description: statusOutput.description })
class Status extends outputFields(statusOutput, { models: [StatusModel], incidents: [Incident] }) {}

/** An answer has 90 days of each model. */
const STATUS_COST = 200;

@Resolver()
export class StatusResolver {
  @Allow('public')
  @Query(() => Status, { description: statusOutput.description ?? '', complexity: STATUS_COST })
  async status(@Ctx() { services, service }: GraphqlContext): Promise<Status> {
    return camelCased(await services.status.status(service));
  }
}

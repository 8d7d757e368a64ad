import {
  incidentOutput,
  statusDayOutput,
  statusModelOutput,
  statusOutput,
} from '../../services/leaderboard/status.outputs.js';
import { toGraphql } from '../case.js';
import { enumOf } from '../enum-of.js';
import { query } from '../fields.js';
import { objectType } from '../zod-fields.js';

enumOf('ModelState', 'Current state of a model.', statusModelOutput.shape.state, {
  operational: 'Calls succeed.',
  degraded: 'More than 5% of at least 20 calls of the last hour failed.',
  no_data: 'There were no calls in the last 24 hours, or the figures are late.',
});

objectType('StatusDay', statusDayOutput);
objectType('StatusModel', statusModelOutput);
objectType('Incident', incidentOutput);

/** A response has 4 values for each of 90 days of 6 models, and 5 for each of 100 incidents. */
const STATUS_COST = 2_700;

/** Public availability of the models. */
export const statusResolvers = [
  query('status', 'public', objectType('Status', statusOutput), {
    description: statusOutput.description,
    complexity: STATUS_COST,
    run: ({ services, service }) => toGraphql(services.status.status(service)),
  }),
];

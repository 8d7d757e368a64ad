import { Int } from 'type-graphql';
import { modelWindowInput } from '../../services/leaderboard/leaderboard.inputs.js';
import {
  latencyBandOutput,
  leaderboardMixOutput,
  mixBandOutput,
  mixEntryOutput,
  usageMixOutput,
} from '../../services/leaderboard/mix.outputs.js';
import { Viewer } from '../accounts/accounts.types.js';
import { toGraphql } from '../case.js';
import { field } from '../fields.js';
import { checked } from '../input.js';
import { objectType } from '../zod-fields.js';

objectType('MixBand', mixBandOutput);
objectType('LatencyBand', latencyBandOutput);
objectType('UsageMix', usageMixOutput);
objectType('LeaderboardMixEntry', mixEntryOutput);

/** Reads up to 30 days of the account's roll-ups. */
const READING = 200;

/** The leaderboard weighted by the account's own usage. */
export const mixResolvers = [
  field(Viewer, 'leaderboardMix', objectType('LeaderboardMix', leaderboardMixOutput), {
    description: leaderboardMixOutput.description,
    complexity: ({ childComplexity }) => READING + childComplexity,
    args: modelWindowInput,
    argTypes: { windowDays: Int },
    run: ({ services, service }, args) =>
      toGraphql(services.leaderboardMix.mix(service, checked(modelWindowInput, args))),
  }),
];

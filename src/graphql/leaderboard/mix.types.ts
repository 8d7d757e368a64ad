import { ArgsType, Int, ObjectType } from 'type-graphql';
import { modelWindowInput } from '../../services/leaderboard/leaderboard.inputs.js';
import {
  latencyBandOutput,
  leaderboardMixOutput,
  mixBandOutput,
  mixEntryOutput,
  usageMixOutput,
} from '../../services/leaderboard/mix.outputs.js';
import { inputFields, outputFields } from '../zod-fields.js';

@ArgsType()
export class LeaderboardMixArgs extends inputFields(modelWindowInput, { windowDays: Int }) {}

@ObjectType({ description: mixBandOutput.description })
class MixBand extends outputFields(mixBandOutput) {}

@ObjectType({ description: latencyBandOutput.description })
class LatencyBand extends outputFields(latencyBandOutput) {}

@ObjectType({ description: usageMixOutput.description })
class UsageMix extends outputFields(usageMixOutput, { bands: [MixBand] }) {}

@ObjectType({ description: mixEntryOutput.description })
class LeaderboardMixEntry extends outputFields(mixEntryOutput, { bands: [LatencyBand] }) {}

@ObjectType({ description: leaderboardMixOutput.description })
export class LeaderboardMix extends outputFields(leaderboardMixOutput, {
  mix: UsageMix,
  entries: [LeaderboardMixEntry],
}) {}

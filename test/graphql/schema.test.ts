import { readFileSync } from 'node:fs';
import { CriticalityLevel, diff } from '@graphql-inspector/core';
import {
  buildSchema,
  type GraphQLField,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  validateSchema,
} from 'graphql';
import { accessOf } from '../../src/graphql/access.js';
import { createSchema, schemaText } from '../../src/graphql/schema.js';

const EMIT = 'node_modules/.bin/node dist/cli/emit-graphql.js';

describe('the GraphQL schema', () => {
  let schema: GraphQLSchema;
  beforeAll(() => {
    schema = createSchema();
  });

  const ownTypes = () => Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__'));
  const rootFields = () =>
    [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].flatMap((type) =>
      Object.values(type!.getFields()).map((field) => [`${type!.name}.${field.name}`, field] as const),
    );

  test('is a valid schema', () => {
    expect(validateSchema(schema)).toEqual([]);
  });

  test(`is the committed one: after a change run ${EMIT}`, () => {
    expect(readFileSync('schema/schema.graphql', 'utf8')).toBe(schemaText(schema));
  });

  const breaking = async (now: GraphQLSchema) => {
    const baseline = buildSchema(readFileSync('schema/baseline.graphql', 'utf8'));
    const changes = await diff(baseline, now);
    return changes
      .filter(({ criticality }) => criticality.level === CriticalityLevel.Breaking)
      .map(({ message }) => message);
  };

  test(`breaks no existing client: an intended break is accepted by ${EMIT} --accept-breaking`, async () => {
    expect(await breaking(schema)).toEqual([]);
  });

  test.each([
    ['a field that goes', '  lastFour: String!\n', ''],
    ['an argument that becomes required', '    after: String\n', '    after: String!\n'],
    ['a value that may be missing', '  balanceUsd: Decimal!\n', '  balanceUsd: Decimal\n'],
    ['an enum value that goes', '  ADJUSTMENT\n', ''],
  ])('would catch %s', async (_what, was, becomes) => {
    const text = schemaText(schema).replace(/^ *"""[\s\S]*?"""\n/gm, '');
    expect(text).toContain(was);
    expect(await breaking(buildSchema(text.replaceAll(was, becomes)))).not.toEqual([]);
  });

  test('describes every type, field, argument and value', () => {
    const missing: string[] = [];
    const look = (where: string, { description }: { description?: string | null | undefined }): void => {
      if (!description) missing.push(where);
    };
    for (const type of ownTypes()) {
      look(type.name, type);
      if (isEnumType(type)) for (const value of type.getValues()) look(`${type.name}.${value.name}`, value);
      if (isObjectType(type) || isInterfaceType(type) || isInputObjectType(type)) {
        for (const field of Object.values(type.getFields())) {
          look(`${type.name}.${field.name}`, field);
          const { args = [] } = field as Partial<GraphQLField<unknown, unknown>>;
          for (const argument of args) look(`${type.name}.${field.name}(${argument.name})`, argument);
        }
      }
    }
    expect(missing).toEqual([]);
    expect(ownTypes().length).toBeGreaterThan(40);
  });

  test('declares for every root field who may use it', () => {
    const levels = new Map(rootFields().map(([name, field]) => [name, accessOf(field)]));
    expect([...levels].filter(([, access]) => access === undefined)).toEqual([]);
    expect(
      [...levels]
        .filter(([, access]) => access === 'public')
        .map(([name]) => name)
        .sort(),
    ).toEqual([
      'Mutation.forgotPassword',
      'Mutation.login',
      'Mutation.resetPassword',
      'Mutation.signup',
      'Query.billingConfig',
      'Query.installation',
      'Query.leaderboard',
      'Query.leaderboardModel',
      'Query.leaderboardRow',
      'Query.migrationEstimate',
      'Query.models',
      'Query.plans',
      'Query.sharedPlaygroundSession',
      'Query.status',
    ]);
  });

  test('gives each mutation its own payload and input', () => {
    const fields = Object.values(schema.getMutationType()!.getFields());
    expect(fields.length).toBeGreaterThan(15);
    for (const { name, type, args } of fields) {
      const own = `${name[0]!.toUpperCase()}${name.slice(1)}`;
      expect(String(type)).toBe(`${own}Payload`);
      expect(args.map((argument) => [argument.name, String(argument.type)])).toEqual(
        ['logout', 'recomputeLeaderboard'].includes(name) ? [] : [['input', `${own}Input!`]],
      );
    }
  });

  test('has no field through which a secret could leave', () => {
    const names = ownTypes().flatMap((type) =>
      isObjectType(type) && type !== schema.getMutationType()
        ? Object.keys(type.getFields()).map((field) => `${type.name}.${field}`)
        : [],
    );
    const secrets = names.filter((name) =>
      /hash|sealed|secret|password|virtual|token|upstreamModel/i.test(name.split('.')[1]!),
    );
    expect(secrets.sort()).toEqual([
      'Analytics.totalTokensIn',
      'Analytics.totalTokensOut',
      'Benchmark.tokensPerSecond',
      'Benchmark.totalTokens',
      'CreateAlertSubscriptionPayload.signingSecret',
      'LatencyBand.fromOutputTokens',
      'LatencyBand.toOutputTokens',
      'LeaderboardEntry.medianTokensIn',
      'LeaderboardEntry.medianTokensOut',
      'LeaderboardEntry.outputTokensPerSecond',
      'LeaderboardEntry.totalTokensIn',
      'LeaderboardEntry.totalTokensOut',
      'LeaderboardModel.medianTokensIn',
      'LeaderboardModel.medianTokensOut',
      'LeaderboardModel.outputTokensPerSecond',
      'LeaderboardModel.totalTokensIn',
      'LeaderboardModel.totalTokensOut',
      'LeaderboardRow.inputTokens',
      'LeaderboardRow.outputTokens',
      'LeaderboardRow.successTokensOut',
      'LeaderboardRow.tokensIn',
      'LeaderboardRow.tokensOut',
      'LoginPayload.accessToken',
      'LoginPayload.tokenType',
      'MixBand.fromOutputTokens',
      'MixBand.toOutputTokens',
      'ModelHour.tokensIn',
      'ModelHour.tokensOut',
      'PlaygroundParameters.maxTokens',
      'PlaygroundRun.inputTokens',
      'PlaygroundRun.outputTokens',
      'PromptConfig.maxTokens',
      'PromptVersionStats.inputTokens',
      'PromptVersionStats.outputTokens',
      'ResetPasswordPayload.accessToken',
      'ResetPasswordPayload.tokenType',
      'RotateAlertSecretPayload.signingSecret',
      'SignupPayload.accessToken',
      'SignupPayload.tokenType',
      'StatementModel.inputTokens',
      'StatementModel.outputTokens',
      'SweepStep.tokensPerSecond',
      'TopUpPayload.monthlyQuotaTokens',
      'UsageEvent.inputTokens',
      'UsageEvent.outputTokens',
      'UsageMix.inputTokens',
      'UsageMix.outputTokens',
      'UsageSeriesPoint.tokensIn',
      'UsageSeriesPoint.tokensOut',
      'Viewer.monthlyQuotaTokens',
      'WhatIf.inputTokens',
      'WhatIf.outputTokens',
      'WidgetDay.inputTokens',
      'WidgetDay.outputTokens',
      'WidgetUsage.inputTokens',
      'WidgetUsage.outputTokens',
    ]);
  });
});

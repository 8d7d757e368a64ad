import type { Subject } from './subjects.js';

/** Arguments of one request, and what is special about them. */
export interface Variant<Arguments> {
  note?: string;
  with: Arguments;
}

type Variables = Record<string, unknown>;

const NONE: Variant<Variables>[] = [{ with: {} }];
const WINDOWS = [7, 30, 90];
const RANKING_WINDOWS = [7, 30];
const inWindows = (
  variables: (window: number) => Variables,
  windows: readonly number[] = WINDOWS,
): Variant<Variables>[] => windows.map((window) => ({ note: `${window} days`, with: variables(window) }));
const PAGE = { unit: 'DAY', timeZone: 'Europe/Berlin' };

/** The variables of every query of the dashboard, by its name. */
export const documentVariants: Record<string, (subject: Subject) => Variant<Variables>[]> = {
  Outlook: () => NONE,
  Mail: () => NONE,
  Prices: () => NONE,
  Viewer: () => NONE,
  KeyAlerts: ({ keyId }) => [{ with: { id: keyId } }],
  AccountAlerts: () => NONE,
  AlertsOfKeys: () => NONE,
  AlertKeys: () => NONE,
  Billing: () => NONE,
  LedgerMonth: ({ month }) => [{ with: { month } }],
  Statement: ({ month }) => [{ with: { month } }],
  ChargesOfDay: ({ day }) => [{ with: { filter: { day } } }],
  Keys: () => [
    { note: 'by spend', with: { orderBy: 'SPEND' } },
    { note: 'search', with: { orderBy: 'USED', search: 'Key 1' } },
  ],
  Key: ({ keyId }) => [{ with: { id: keyId } }],
  KeyAnalytics: ({ keyId }) => inWindows((window) => ({ id: keyId, window, ...PAGE })),
  SnippetFacts: () => NONE,
  Models: () => inWindows((window) => ({ window }), RANKING_WINDOWS),
  Overview: () => inWindows((window) => ({ window, ...PAGE })),
  PlaygroundSession: ({ sessionId }) => [{ with: { id: sessionId } }],
  SharedQuestion: ({ slug }) => [{ with: { slug } }],
  PlaygroundHistory: () => [{ with: { first: 100 } }],
  Profile: () => NONE,
  Prompts: () => [{ with: {} }, { note: 'search', with: { search: 'question 1' } }],
  Prompt: ({ promptId }) => [{ with: { id: promptId } }],
  PromptVersions: ({ promptId }) => [{ with: { id: promptId } }],
  PromptDiff: ({ promptId, versions }) => [{ with: { id: promptId, from: 1, to: versions } }],
  RenderPrompt: ({ promptId }) => [{ with: { id: promptId, variables: [] } }],
  PromptStats: ({ promptId, versionId }) =>
    inWindows((window) => ({ id: promptId, version: versionId, window })),
  PromptComparison: ({ promptId, versions }) =>
    inWindows((window) => ({ id: promptId, first: versions - 1, second: versions, window })),
  ChatModels: () => NONE,
  RefusedCalls: () => inWindows((window) => ({ window })),
  KeyRefusedCalls: ({ keyId }) => inWindows((window) => ({ id: keyId, window })),
  UsageLog: ({ keyId, middleCursor, day }) => [
    { note: 'first page', with: { filter: {} } },
    { note: 'deep', with: { filter: {}, after: middleCursor } },
    { note: 'by key', with: { filter: { keyId } } },
    { note: 'of a day', with: { filter: { day } } },
    { note: '90 days', with: { filter: { windowDays: 90 } } },
    { note: 'errors', with: { filter: { status: 'ERROR' } } },
    { note: 'errors of a key', with: { filter: { status: 'ERROR', keyId } } },
    { note: 'a model never used', with: { filter: { model: 'gateway/none' } } },
  ],
  UsageFilters: () => NONE,
  UsageFilterKey: ({ keyId }) => [{ with: { id: keyId } }],
  UsageReceipt: ({ eventId }) => [{ with: { id: eventId } }],
  RejectedCall: ({ rejectedId }) => [{ with: { id: rejectedId } }],
  WhatIf: ({ keyId, versionId }) => [
    ...inWindows((window) => ({ model: 'gateway/fast', window })),
    { note: 'of a key', with: { model: 'gateway/fast', window: 90, keyId } },
    { note: 'of a version', with: { model: 'gateway/fast', window: 90, promptVersionId: versionId } },
  ],
  PricedModels: () => NONE,
  Widgets: () => NONE,
  Widget: ({ widgetId }) => [{ with: { id: widgetId } }],
  WidgetFacts: () => NONE,
  MorePrompts: () => NONE,
  WidgetUsage: ({ widgetId }) => inWindows((window) => ({ id: widgetId, window })),
};

/** The same for administrators' pages. */
export const adminDocumentVariants: typeof documentVariants = {
  Users: () => [
    { with: {} },
    { note: 'search', with: { search: 'account-77' } },
    { note: 'search without a match', with: { search: 'nobody' } },
  ],
  UserOfAdmin: ({ accountId }) => [{ with: { id: accountId } }],
  AdminActions: ({ accountId, nodeId }) => [
    { note: 'first page', with: { limit: 50, offset: 0 } },
    { note: 'offset 10,000', with: { limit: 50, offset: 10_000 } },
    { note: 'of a subject', with: { limit: 50, offset: 0, subjectId: nodeId } },
    { note: 'of an administrator', with: { limit: 50, offset: 0, actorId: accountId } },
    { note: 'of an administrator without any', with: { limit: 50, offset: 0, actorId: nodeId } },
    { note: 'of a kind without any', with: { limit: 50, offset: 0, action: 'model.' } },
  ],
  ScheduledJobs: () => NONE,
  InstallationWarnings: () => NONE,
  FeaturedModels: () => NONE,
  NodeSettings: () => NONE,
  NodeHeartbeats: ({ nodeId }) => [{ with: { id: nodeId } }],
  NodeBenchmarks: ({ nodeId }) => [{ with: { id: nodeId } }],
  Benchmarks: ({ nodeId }) => [
    { with: { limit: 50, offset: 0 } },
    { note: 'of a node', with: { limit: 50, offset: 0, nodeId } },
  ],
  LatestBenchmarks: () => NONE,
  CompareBenchmarks: ({ runs: [base, other] }) => [{ with: { base, other } }],
  NodeMargins: ({ nodeId }) => [
    ...inWindows((windowDays) => ({ windowDays }), RANKING_WINDOWS),
    { note: 'of a node, 30 days', with: { windowDays: 30, nodeId } },
  ],
  NodeNames: () => NONE,
};

/** Queries that ask other processes, or nothing of the database: not measured. */
export const UNMEASURED_DOCUMENTS = new Set(['Routing']);

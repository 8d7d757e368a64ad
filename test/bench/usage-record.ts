import type { UsageRecord } from '../../src/metering/usage-record.js';

/** The record of a successful call that the bench charges. */
export function recordOf(id: string, accountId: string, keyId: string): UsageRecord {
  return {
    id,
    createdAt: Date.now(),
    accountId,
    keyId,
    widgetId: null,
    requestedModel: 'gateway/fast',
    servedModel: 'gateway/fast',
    endpoint: 'chat',
    stream: false,
    inputTokens: 40,
    outputTokens: 100,
    priceIn: 100_000n,
    priceOut: 300_000n,
    cost: 34_000_000n,
    latencyMs: 12,
    ttftMs: null,
    status: 'success',
    errorCode: null,
    httpStatus: 200,
    clientAborted: false,
    estimated: false,
    anomalous: false,
    promptVersionId: null,
    deployment: 'fast-1',
    nodeId: null,
    nodeCalls: 1,
    errorMessage: null,
    movedTo: null,
  };
}

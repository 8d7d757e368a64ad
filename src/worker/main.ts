import { parentPort } from 'node:worker_threads';
import { AppError } from '../errors.js';
import type { JsonJob } from '../lib/json-reader.js';
import { packMessage, unpackMessage, type WorkerAnswer } from '../lib/worker-message.js';

/** The worker thread of a process: runs jobs of `lib/json-reader.ts` by name, one at a time. */

/** Each job is loaded on first use. */
const JOBS: Record<string, () => Promise<unknown>> = {
  request: async () => (await import('../inference/request/read-request.js')).READ_REQUEST,
  answer: async () => (await import('../inference/relay/read-answer.js')).READ_ANSWER,
  'responses-request': async () =>
    (await import('../gateway/responses/read-request.js')).READ_RESPONSES_REQUEST,
  'responses-answer': async () => (await import('../gateway/responses/response-state.js')).TRANSLATE_ANSWER,
  'rewrite-model-name': async () => (await import('../router/rewrite-model-name.js')).REWRITE_MODEL_NAME,
  'widget-chat': async () => (await import('../gateway/widget/read-chat.js')).READ_CHAT,
  'widget-answer': async () => (await import('../gateway/widget/read-widget-answer.js')).READ_WIDGET_ANSWER,
};

async function runJob(name: string, input: object): Promise<WorkerAnswer> {
  try {
    const job = (await JOBS[name]!()) as JsonJob<object, object>;
    return { result: job.run(unpackMessage(input)) };
  } catch (error) {
    if (error instanceof AppError) return { refused: { code: error.code, options: error.options } };
    return { failed: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

parentPort?.on('message', async ({ name, input }: { name: string; input: object }) => {
  const outcome = await runJob(name, input);
  if (!('result' in outcome)) {
    parentPort!.postMessage(outcome);
    return;
  }
  const { message, transfer } = packMessage(outcome.result);
  parentPort!.postMessage({ result: message }, transfer);
});

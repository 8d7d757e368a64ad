import type { IncomingMessage } from 'node:http';
import { AppError } from '../errors.js';
import { meantPath, rightBaseUrl } from '../lib/inference-path.js';
import { originForm } from './request-guard.js';

export interface Served {
  /** Without a trailing slash. */
  publicBaseUrl: string;
  /** Whether `/v1/responses` is served. */
  responses: boolean;
}

const USE_CHAT =
  "Use chat completions instead: openai.chat(model) in the AI SDK, setOpenAIAPI('chat_completions') in OpenAI's Agents SDK (in Python set_default_openai_api(\"chat_completions\")), client.chat.completions in OpenAI's SDKs.";

/** What to use instead of an endpoint that clients commonly call, by the path below `/v1`. */
function adviceFor(path: string, { publicBaseUrl, responses }: Served): string | undefined {
  const [first = '', ...rest] = path.split('/').slice(2);
  switch (first) {
    case 'responses':
      return responses
        ? 'Responses are not stored: send the whole conversation to POST /v1/responses.'
        : `The operator can serve it with the setting RESPONSES_API. ${USE_CHAT}`;
    case 'completions':
      return `Send the prompt as a message. ${USE_CHAT}`;
    case 'messages':
      return `Anthropic's API is not served. Use a client for OpenAI's API with the base URL ${publicBaseUrl}/v1.`;
    case 'assistants':
    case 'threads':
      return USE_CHAT;
    case 'engines':
      return rest.at(-1) === 'embeddings'
        ? 'Name the model in the body of POST /v1/embeddings.'
        : `Name the model in the body. ${USE_CHAT}`;
    default:
      return undefined;
  }
}

/** The 404 of an unknown path below `/v1`: lists the supported endpoints, and what to use instead if that is known. */
export function notSupported(request: IncomingMessage, served: Served): AppError {
  const [path = ''] = originForm(request).split('?', 1);
  const fault = `${request.method} ${path.slice(0, 100)} is not supported.`;
  const meant = meantPath(path);
  if (meant !== undefined && meant !== path)
    return new AppError('endpoint_not_supported', {
      message: `${fault} ${rightBaseUrl(served.publicBaseUrl, meant)}`,
    });
  const posted = `POST /v1/chat/completions, ${served.responses ? 'POST /v1/responses, ' : ''}POST /v1/embeddings`;
  const list = `Supported endpoints are ${posted} and GET /v1/models.`;
  const message = [fault, adviceFor(path, served), list].filter(Boolean).join(' ');
  return new AppError('endpoint_not_supported', { message });
}

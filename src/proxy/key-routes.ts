import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { plainWords } from '../lib/field-issues.js';
import { badRequest, keysUnavailable, type ProxyError } from '../router/answers.js';
import type { VirtualKeyInfo, VirtualKeys } from '../router/virtual-keys.js';
import { KEYS_BYTES, proxyRules } from './route-rules.js';
import { sendProxyError } from './send-error.js';

/** Management of virtual keys in LiteLLM's format. These routes need the master key. */

const label = z.string().max(500).nullish();
const generateBody = z.looseObject({ user_id: label, key_alias: label });
const deleteBody = z.looseObject({ keys: z.array(z.string().min(1).max(300)).min(1).max(1_000) });
const infoQuery = z.looseObject({ key: z.string().min(1).max(300) });

const keyNotFound: ProxyError = {
  status: 404,
  type: 'not_found_error',
  code: '404',
  param: 'key',
  message: 'Key not found in database',
};

/** LiteLLM's abbreviation of a key. */
const abbreviated = (key: string): string | null => (key.startsWith('sk-') ? `sk-...${key.slice(-4)}` : null);

const fieldsOf = (info: VirtualKeyInfo) => ({
  key_alias: info.keyAlias,
  user_id: info.userId,
  expires: null,
  models: [],
  max_budget: null,
  created_at: info.createdAt.toISOString(),
});

/** Parses the body; undefined if it is missing or not JSON. */
function parsed(body: unknown): unknown {
  if (!Buffer.isBuffer(body)) return undefined;
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

function issueOf(error: z.ZodError): ProxyError {
  const issue = error.issues[0]!;
  const param = issue.path.join('.') || undefined;
  return badRequest(
    param ? `${param} ${plainWords(issue.message)}` : 'The body must be a JSON object.',
    param,
  );
}

export function keyRoutes(app: FastifyInstance, keys: VirtualKeys): void {
  app.post('/key/generate', proxyRules('master', KEYS_BYTES), async (request, reply) => {
    const input = generateBody.safeParse(request.body === undefined ? {} : parsed(request.body));
    if (!input.success) return sendProxyError(reply, issueOf(input.error));
    const { user_id: userId = null, key_alias: keyAlias = null } = input.data;
    const made = await keys.generate({ userId, keyAlias }).catch(() => undefined);
    if (!made) return sendProxyError(reply, keysUnavailable);
    return { key: made.key, key_name: abbreviated(made.key), token: made.token, ...fieldsOf(made) };
  });

  app.post('/key/delete', proxyRules('master', KEYS_BYTES), async (request, reply) => {
    const input = deleteBody.safeParse(parsed(request.body));
    if (!input.success) return sendProxyError(reply, issueOf(input.error));
    const deleted = await keys.remove(input.data.keys).catch(() => undefined);
    if (!deleted) return sendProxyError(reply, keysUnavailable);
    return { deleted_keys: deleted };
  });

  app.get('/key/info', proxyRules('master'), async (request, reply) => {
    const input = infoQuery.safeParse(request.query);
    if (!input.success) return sendProxyError(reply, badRequest('The query must name a key.', 'key'));
    const { key } = input.data;
    const info = await keys.info(key).catch(() => null);
    if (info === null) return sendProxyError(reply, keysUnavailable);
    if (info === undefined) return sendProxyError(reply, keyNotFound);
    return { key, info: { key_name: abbreviated(key), token: info.token, ...fieldsOf(info) } };
  });
}

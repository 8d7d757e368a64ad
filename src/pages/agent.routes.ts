import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../errors.js';
import { productRoot } from '../lib/product-root.js';
import type { RestApp } from '../rest/rest-app.js';
import { show } from './show.js';

/** The compiled agent: a single file without imports of ours. */
const FILE = join('dist', 'cli', 'gateway-agent.js');

/** `GET /gateway-agent.mjs`: the program that sends a node's heartbeats, for nodes to download. */
export function agentRoutes(app: RestApp): void {
  let program: string | undefined;
  show(app, '/gateway-agent.mjs', 'page', (_request, reply) => {
    program ??= readProgram();
    return reply
      .type('text/javascript; charset=utf-8')
      .header('cache-control', 'public, max-age=300')
      .send(program);
  });
}

function readProgram(): string {
  try {
    return readFileSync(join(productRoot(), FILE), 'utf8').replace(/^\/\/# sourceMappingURL=.*$/m, '');
  } catch (cause) {
    throw new AppError('service_unavailable', { cause });
  }
}

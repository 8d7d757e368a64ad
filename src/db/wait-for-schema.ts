import { setTimeout as delay } from 'node:timers/promises';
import type { MikroORM } from '@mikro-orm/postgresql';
import { throwIfPooler } from './refused-by-pooler.js';
import { ReliedSettingsError, requireReliedSettings } from './relied-settings.js';
import { schemaIsCurrent } from './schema-version.js';

const POLL_MS = 250;

/**
 * Waits until the database responds and has this build's schema, which platform and jobs migrate.
 * @throws Error with the reason after `timeoutMs`, or at once if a pooler's sessions have the wrong settings.
 */
export async function waitForSchema(orm: MikroORM, timeoutMs = 60_000): Promise<void> {
  let reason = 'its schema is older than this build: start the platform, which runs the migrations';
  for (const end = Date.now() + timeoutMs; Date.now() < end; await delay(POLL_MS)) {
    try {
      if (await schemaIsCurrent(orm)) {
        await requireReliedSettings(orm);
        return;
      }
    } catch (error) {
      throwIfPooler(error);
      if (error instanceof ReliedSettingsError) throw error;
      reason = 'it does not respond';
    }
  }
  throw new Error(`the database is not usable after ${timeoutMs / 1000} s: ${reason}`);
}

import { setTimeout as delay } from 'node:timers/promises';
import type { MikroORM } from '@mikro-orm/postgresql';
import type { Logger } from '../lib/logger.js';
import { throwIfPooler } from './refused-by-pooler.js';
import { ReliedSettingsError, requireReliedSettings } from './relied-settings.js';

const RETRY_MS = 500;

/**
 * Waits for a database that starts later than this process.
 * @throws The last error after `timeoutMs`, or at once if a pooler's sessions have the wrong settings.
 */
export async function waitForDatabase(orm: MikroORM, log: Logger, timeoutMs = 60_000): Promise<void> {
  for (let isReported = false, end = Date.now() + timeoutMs; ; isReported = true) {
    try {
      await requireReliedSettings(orm);
      return;
    } catch (error) {
      throwIfPooler(error);
      if (error instanceof ReliedSettingsError || Date.now() > end) throw error;
      if (!isReported) log.warn({ err: error }, `waiting up to ${timeoutMs / 1000} s for the database`);
      await delay(RETRY_MS);
    }
  }
}

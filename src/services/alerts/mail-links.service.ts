import type { ServiceContext } from '../../context.js';
import type { ServiceDeps } from '../deps.js';
import { type MailLinkAction, readMailLink } from './mail-links.rules.js';
import { hasStopped, recordWish } from './mail-links.store.js';

/** What the links in emails do. The link is the credential: only its recipient gets the email. */
export interface MailLinksService {
  /** Whether a token is valid for this action. Changes nothing. */
  isValid(action: MailLinkAction, token: string): boolean;
  /**
   * Performs the link's action; repeating it changes nothing.
   * @returns `stopped` for a confirmation after the recipient has stopped the emails, which changes nothing;
   * `invalid` for an invalid token.
   */
  follow(
    context: ServiceContext,
    action: MailLinkAction,
    token: string,
  ): Promise<'done' | 'stopped' | 'invalid'>;
}

export function createMailLinksService({ pseudonyms }: Pick<ServiceDeps, 'pseudonyms'>): MailLinksService {
  return {
    isValid: (action, token) => readMailLink(pseudonyms, action, token) !== undefined,
    async follow(context, action, token) {
      const link = readMailLink(pseudonyms, action, token);
      if (!link) return 'invalid';
      await recordWish(context.em, link, action);
      return action === 'confirm' && (await hasStopped(context.em, link)) ? 'stopped' : 'done';
    },
  };
}

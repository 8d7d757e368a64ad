import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RestApp } from '../rest/rest-app.js';
import { writes } from '../rest/route-rules.js';
import { type MailLinkAction, mailLinkActions } from '../services/alerts/mail-links.rules.js';
import type { Services } from '../services.js';
import { type MailPage, mailPage } from './mail-page.js';
import { show } from './show.js';
import type { SiteContext } from './site.js';

const pages: Readonly<Record<MailLinkAction, { question: MailPage; done: MailPage }>> = {
  stop: {
    question: {
      title: 'Stop these emails',
      text: 'An account of this service sends its spend alerts to your address. If you stop them, you won’t receive any more emails from this account.',
      button: 'Stop these emails',
    },
    done: {
      title: 'Stopped',
      text: 'You won’t receive any more emails from this account. You can close this page.',
    },
  },
  confirm: {
    question: {
      title: 'Confirm this address',
      text: 'An account of this service sends its spend alerts to your address. Confirm that you want to receive all of them. Until then, you receive only a few a day.',
      button: 'Confirm this address',
    },
    done: {
      title: 'Confirmed',
      text: 'You will receive all spend alerts for this account. You can close this page.',
    },
  },
};
/** Whoever stops the mails has had the last word: the link to confirm stands in the mails that came before. */
const stopped: MailPage = {
  title: 'You have stopped these emails',
  text: 'You don’t receive any emails from this account, and confirming your address doesn’t change that. You can close this page.',
};
const invalid: MailPage = {
  title: 'This link is not valid',
  text: 'Part of it may be missing. Open it from the email again.',
};

/** The bodies of a form and of a mailbox's one click (RFC 8058). What they say doesn't matter: the address decides. */
const FORM_TYPES = ['application/x-www-form-urlencoded', 'multipart/form-data'];

/**
 * Where the links in mails lead. Programs open links before their readers do: GET only asks, POST acts.
 */
export function mailRoutes(app: RestApp, { mailLinks }: Services, site: SiteContext): void {
  const answer = (reply: FastifyReply, page: MailPage): FastifyReply =>
    reply
      .status(page === invalid ? 404 : 200)
      .header('cache-control', 'no-store')
      .type('text/html; charset=utf-8')
      .send(mailPage(page, site));
  void app.register(async (scope) => {
    scope.addContentTypeParser(FORM_TYPES, { parseAs: 'string' }, (_request, _body, done) => done(null));
    for (const action of mailLinkActions) {
      const url = `/mail/${action}`;
      const { question, done } = pages[action];
      show(scope as RestApp, url, 'page', (request, reply) =>
        answer(reply, mailLinks.isValid(action, tokenOf(request)) ? question : invalid),
      );
      scope.route({
        method: 'POST',
        url,
        config: writes({
          auth: 'none',
          bodyLimitBytes: 4 * 1024,
          contentTypes: FORM_TYPES,
          headers: 'page',
          rate: 'read',
        }),
        schema: { hide: true },
        handler: async (request, reply) => {
          const outcome = await mailLinks.follow(request.context, action, tokenOf(request));
          return answer(reply, { done, stopped, invalid }[outcome]);
        },
      });
    }
  });
}

function tokenOf({ query }: FastifyRequest): string {
  const { token } = query as { token?: unknown };
  return typeof token === 'string' ? token : '';
}

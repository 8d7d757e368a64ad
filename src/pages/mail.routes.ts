import type { FastifyReply, FastifyRequest } from 'fastify';
import { escaped } from '../lib/html.js';
import type { RestApp } from '../rest/rest-app.js';
import { writes } from '../rest/route-rules.js';
import { type MailLinkAction, mailLinkActions } from '../services/alerts/mail-links.rules.js';
import type { Services } from '../services.js';
import { show } from './show.js';
import type { SiteContext } from './site.js';
import { sitePage } from './site-page.js';

/** A short page: a title, a sentence, and a button if there is something to decide. */
interface MailPage {
  title: string;
  text: string;
  /** Label of a button that sends the form to this URL. */
  button?: string;
}

/** A public page that an email links to. It works without scripts. */
function mailPage({ title, text, button }: MailPage, site: SiteContext): string {
  const form =
    button === undefined
      ? ''
      : `<form method="post"><button type="submit">${escaped(button)}</button></form>`;
  return sitePage({ title, main: `<p>${escaped(text)}</p>\n${form}` }, site);
}

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
/** A stop is final: the link to confirm is in emails that were sent before it. */
const stopped: MailPage = {
  title: 'You have stopped these emails',
  text: 'You don’t receive any emails from this account, and confirming your address doesn’t change that. You can close this page.',
};
const invalid: MailPage = {
  title: 'This link is not valid',
  text: 'Part of it may be missing. Open it from the email again.',
};

/**
 * Bodies of the form and of a mail program's one-click request (RFC 8058). Their content is ignored: the URL decides.
 */
const FORM_TYPES = ['application/x-www-form-urlencoded', 'multipart/form-data'];

/** Pages that emails link to. Programs open links before their readers do, so GET only asks and POST acts. */
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

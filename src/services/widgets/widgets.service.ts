import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { requireViewer, type ServiceContext } from '../../context.js';
import { notifyInvalidation } from '../../db/invalidation.js';
import { UNTRACKED } from '../../db/untracked.js';
import { Widget } from '../../entities/widgets/widget.js';
import { AppError } from '../../errors.js';
import { lastDays } from '../../lib/clock.js';
import { ofWholeInput } from '../../lib/field-issues.js';
import { newId } from '../../lib/ids.js';
import { formatDecimal, formatMoney, parseMoney } from '../../lib/money.js';
import type { PageInput } from '../../lib/page-input.js';
import { uuidsOf } from '../../lib/uuid.js';
import { requireActing, requireLive, writeAsViewer } from '../accounts/acting.js';
import type { ServiceDeps } from '../deps.js';
import { requireExpected } from '../expected.js';
import { idOf, notFound } from '../not-found.js';
import { accountAuthorization } from '../playground/account-key.js';
import { WIDGET_DEFAULTS } from './defaults.rules.js';
import { requirePromptStill, requireReferences } from './references.js';
import type { CreateWidgetInput, UpdateWidgetInput } from './widgets.inputs.js';
import type { WidgetOutput, WidgetUsageOutput } from './widgets.outputs.js';
import { hasPublicKeyForm, MAX_WIDGETS, newPublicKey } from './widgets.rules.js';
import {
  allowedDomains,
  findWidget,
  findWidgets,
  listWidgets,
  widgetDays,
  widgetRefusals,
  widgetSites,
} from './widgets.store.js';

type Deps = Pick<ServiceDeps, 'envelopes' | 'virtualKeys'>;

/** The viewer's chat widgets. Those of other accounts and malformed ids are treated as not found. */
export function createWidgetsService(deps: Deps) {
  /** Chats use the account's own virtual key. Until there is one, they fail with `upstream_unconfigured`. */
  const prepareUpstream = async (context: ServiceContext, accountId: string): Promise<void> => {
    await accountAuthorization(context, accountId, deps).catch((error: unknown) => {
      context.log.warn(
        { err: error, accountId },
        'a widget has no virtual key yet; its chats will be rejected',
      );
    });
  };

  return {
    /**
     * Creates a widget.
     * @throws AppError `validation_error`, also when the account has the maximum number of widgets,
     * `model_not_allowed`, `not_found` for a prompt
     */
    async create(context: ServiceContext, input: CreateWidgetInput): Promise<WidgetOutput> {
      const viewer = requireViewer(context);
      const { accountId } = viewer;
      await requireReferences(context.em, accountId, input);
      await prepareUpstream(context, accountId);
      const id = newId();
      const now = new Date(context.clock.now());
      await context.em.transactional(async (em) => {
        await requireActing(em, viewer);
        await requireRoom(em, accountId);
        await requirePromptStill(em, accountId, input.prompt_id);
        // The transaction may have waited for the prompt.
        await requireLive(em, viewer);
        em.create(Widget, { ...DEFAULTS, ...columnsOf(input), ...identity(input, { id, accountId, now }) });
        await em.flush();
        await notifyInvalidation(em, { kind: 'widget', id, accountId });
      });
      return read(context, id);
    },

    /** Newest first, without deleted ones. */
    async list(context: ServiceContext, page: PageInput): Promise<WidgetOutput[]> {
      const { accountId } = requireViewer(context);
      return listWidgets(context.em, { accountId, now: context.clock.now(), ...page });
    },

    /** The widgets of these ids that are the viewer's and not deleted, in no particular order. */
    async findMany(context: ServiceContext, ids: readonly string[]): Promise<WidgetOutput[]> {
      const { accountId } = requireViewer(context);
      return findWidgets(context.em, { accountId, ids: uuidsOf(ids), now: context.clock.now() });
    },

    /** @throws AppError `not_found` */
    async get(context: ServiceContext, { id }: { id: string }): Promise<WidgetOutput> {
      return read(context, id);
    },

    /**
     * Changes the fields in the input.
     * @throws AppError `not_found`, `validation_error`, `model_not_allowed`, `changed_meanwhile`
     */
    async update(context: ServiceContext, input: UpdateWidgetInput & { id: string }): Promise<WidgetOutput> {
      const { accountId } = requireViewer(context);
      await read(context, input.id);
      await requireReferences(context.em, accountId, input);
      await prepareUpstream(context, accountId);
      await change(context, input.id, columnsOf(input), input.expected && columnsOf(input.expected));
      return read(context, input.id);
    },

    /** Gives the widget a new public key; the previous one stops working at once. @throws AppError `not_found` */
    async rotateKey(context: ServiceContext, { id }: { id: string }): Promise<WidgetOutput> {
      await change(context, id, { publicKey: newPublicKey() });
      return read(context, id);
    },

    /** Deletes a widget. Its usage stays. @throws AppError `not_found` */
    async remove(context: ServiceContext, { id }: { id: string }): Promise<void> {
      await change(context, id, { status: 'deleted' });
    },

    /** Sites that may show a widget; undefined for an unknown public key. Public. */
    async domains({ em }: ServiceContext, publicKey: string): Promise<readonly string[] | undefined> {
      return hasPublicKeyForm(publicKey) ? allowedDomains(em, publicKey) : undefined;
    },

    /** Usage of a widget on the last `window_days` UTC days. @throws AppError `not_found` */
    async usage(
      context: ServiceContext,
      { id, window_days }: { id: string; window_days: number },
    ): Promise<WidgetUsageOutput> {
      const widget = await read(context, id);
      const dates = lastDays(context.clock.now(), window_days);
      const where = { widgetId: widget.id, from: dates[0]! };
      const used = await widgetDays(context.em, where);
      const days = dates.map((date) => ({ date, ...(used.get(date) ?? NOTHING) }));
      return {
        window_days,
        messages: sum(days, 'messages'),
        errors: sum(days, 'errors'),
        input_tokens: sum(days, 'input_tokens'),
        output_tokens: sum(days, 'output_tokens'),
        cost_usd: formatMoney(days.reduce((total, { cost_usd }) => total + parseMoney(cost_usd), 0n)),
        daily_breakdown: days.map((day) => ({ ...day, cost_usd: formatMoney(parseMoney(day.cost_usd)) })),
        refused: await widgetRefusals(context.em, where),
        sites: await widgetSites(context.em, where),
      };
    },
  };
}

const NOTHING = { messages: 0, errors: 0, input_tokens: 0, output_tokens: 0, cost_usd: '0' };

type Counted = 'messages' | 'errors' | 'input_tokens' | 'output_tokens';
const sum = (days: readonly Record<Counted, number>[], field: Counted): number =>
  days.reduce((total, day) => total + day[field], 0);

async function read(context: ServiceContext, id: string): Promise<WidgetOutput> {
  const { accountId } = requireViewer(context);
  const widget = await findWidget(context.em, {
    accountId,
    id: idOf(id, 'widget'),
    now: context.clock.now(),
  });
  if (!widget) throw notFound('widget');
  return widget;
}

async function change(
  context: ServiceContext,
  named: string,
  columns: ReturnType<typeof columnsOf> & { publicKey?: string; status?: 'deleted' },
  expected?: ReturnType<typeof columnsOf>,
): Promise<void> {
  const { accountId } = requireViewer(context);
  const id = idOf(named, 'widget');
  await writeAsViewer(context, async (em) => {
    const own = { id, accountId, status: 'active' as const };
    await requirePromptStill(em, accountId, columns.promptId);
    if (expected) await requireExpectedWidget(em, own, expected);
    const changed = await em.nativeUpdate(Widget, own, {
      ...columns,
      updatedAt: new Date(context.clock.now()),
    });
    if (changed === 0) throw notFound('widget');
    await notifyInvalidation(em, { kind: 'widget', id, accountId });
  });
}

/** Locks the widget until the transaction ends. @throws AppError `not_found`, `changed_meanwhile` */
async function requireExpectedWidget(
  em: EntityManager,
  own: { id: string; accountId: string; status: 'active' },
  expected: ReturnType<typeof columnsOf>,
): Promise<void> {
  const widget = await em.findOne(Widget, own, { ...UNTRACKED, lockMode: LockMode.PESSIMISTIC_WRITE });
  if (!widget) throw notFound('widget');
  const { monthlyLimitUsd: budget } = widget;
  requireExpected(expected, { ...widget, monthlyLimitUsd: budget ? formatDecimal(budget) : null });
}

async function requireRoom(em: EntityManager, accountId: string): Promise<void> {
  if ((await em.count(Widget, { accountId, status: 'active' })) < MAX_WIDGETS) return;
  const message = `An account has at most ${MAX_WIDGETS} widgets. Delete one you no longer use.`;
  throw new AppError('validation_error', { message, details: ofWholeInput(message) });
}

const DEFAULTS = {
  systemPrompt: '',
  promptId: null,
  greetingMessage: WIDGET_DEFAULTS.greeting_message,
  placeholder: WIDGET_DEFAULTS.placeholder,
  primaryColor: WIDGET_DEFAULTS.primary,
  position: WIDGET_DEFAULTS.position,
  allowedDomains: [],
  rateLimitPerMinute: WIDGET_DEFAULTS.rate_limit_per_minute,
  dailyMessageLimit: WIDGET_DEFAULTS.daily_message_limit,
  visitorDailyLimit: null,
  verifiedHistory: false,
  loopDetection: false,
  monthlyLimitUsd: null,
  fallbackModelPublicName: null,
};

const identity = (
  { name, model_public_name }: CreateWidgetInput,
  { id, accountId, now }: { id: string; accountId: string; now: Date },
) => ({
  id,
  accountId,
  name,
  modelPublicName: model_public_name,
  publicKey: newPublicKey(),
  createdAt: now,
  updatedAt: now,
});

/** The columns that an input changes. */
function columnsOf(input: Omit<UpdateWidgetInput, 'expected'>) {
  const { theme, monthly_limit_usd: budget } = input;
  return {
    ...given('name', input.name),
    ...given('modelPublicName', input.model_public_name),
    ...given('systemPrompt', input.system_prompt),
    ...given('promptId', input.prompt_id),
    ...given('greetingMessage', input.greeting_message),
    ...given('placeholder', input.placeholder),
    ...given('primaryColor', theme?.primary),
    ...given('position', theme?.position),
    ...given('allowedDomains', input.allowed_domains),
    ...given('rateLimitPerMinute', input.rate_limit_per_minute),
    ...given('dailyMessageLimit', input.daily_message_limit),
    ...given('visitorDailyLimit', input.visitor_daily_limit),
    ...given('verifiedHistory', input.verified_history),
    ...given('loopDetection', input.loop_detection),
    ...given('monthlyLimitUsd', budget == null ? budget : formatMoney(budget)),
    ...given('fallbackModelPublicName', input.fallback_model_public_name),
  };
}

const given = <Name extends string, Value>(name: Name, value: Value | undefined) =>
  (value === undefined ? {} : { [name]: value }) as { [Key in Name]?: Value };

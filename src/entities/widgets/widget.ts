import { defineEntity, p } from '@mikro-orm/core';
import { newId } from '../../lib/ids.js';
import { ofAccount } from '../accounts/account.js';
import { Prompt } from '../prompts/prompt.js';

/** A chat widget that customers embed in their pages. */
const WidgetSchema = defineEntity({
  name: 'Widget',
  tableName: 'widgets',
  indexes: [
    {
      name: 'widgets_account',
      columns: [{ name: 'account_id' }, { name: 'created_at', sort: 'desc' }, { name: 'id', sort: 'desc' }],
    },
    { name: 'widgets_prompt', properties: ['promptId'], where: 'prompt_id is not null' },
  ],
  properties: {
    id: p.uuid().primary().onCreate(newId),
    accountId: () => ofAccount('widgets_account_id_fkey'),
    /** Identifies the widget in pages. Public, not a credential. */
    publicKey: p.text().unique('widgets_public_key_key'),
    name: p.text(),
    modelPublicName: p.text(),
    systemPrompt: p.text().default(''),
    /** Its active version replaces the system prompt. */
    promptId: () =>
      p
        .manyToOne(Prompt)
        .mapToPk()
        .joinColumn('prompt_id')
        .foreignKeyName('widgets_prompt_id_fkey')
        .deleteRule('set null')
        .nullable(),
    greetingMessage: p.text(),
    placeholder: p.text(),
    /** `#rrggbb`. */
    primaryColor: p.text(),
    position: p.text().$type<'bottom-right' | 'bottom-left'>(),
    /** Host names; empty for any site. */
    allowedDomains: p.array(),
    rateLimitPerMinute: p.integer(),
    dailyMessageLimit: p.integer(),
    /** Messages of one visitor per UTC day; null for no separate limit. */
    visitorDailyLimit: p.integer().nullable(),
    /** Whether the assistant's turns in a request need the code that was sent with them. */
    verifiedHistory: p.boolean(),
    /** Whether messages that repeat in a loop are refused. */
    loopDetection: p.boolean().default(false),
    /** Dollars per UTC month. */
    monthlyLimitUsd: p.decimal().precision(24).scale(12).nullable(),
    /** Answers once the monthly limit is reached; null for none. */
    fallbackModelPublicName: p.text().nullable(),
    status: p.text().$type<'active' | 'deleted'>().default('active'),
    createdAt: p.datetime(6),
    updatedAt: p.datetime(6),
  },
});

export class Widget extends WidgetSchema.class {}
WidgetSchema.setClass(Widget);

import { defineEntity, p } from '@mikro-orm/core';

/** What many calls have in common: which model was asked for, which one served at which price, and where. Never changes. */
const CallRouteSchema = defineEntity({
  name: 'CallRoute',
  tableName: 'call_routes',
  uniques: [
    {
      name: 'call_routes_key',
      properties: [
        'servedModel',
        'requestedModel',
        'deployment',
        'nodeId',
        'movedTo',
        'endpoint',
        'priceIn',
        'priceOut',
      ],
    },
  ],
  properties: {
    id: p.integer().primary().autoincrement().generated('identity'),
    requestedModel: p.text(),
    servedModel: p.text(),
    /** The model that the key's guard moved the call to; null if the requested one served it. */
    movedTo: p.text().nullable(),
    endpoint: p.text().$type<'chat' | 'embeddings'>(),
    /** Dollars per million tokens. */
    priceIn: p.decimal().precision(24).scale(12),
    priceOut: p.decimal().precision(24).scale(12),
    /** The deployment that answered, or failed last. This and the node are for administrators only. */
    deployment: p.text().nullable(),
    nodeId: p.uuid().nullable(),
  },
});

export class CallRoute extends CallRouteSchema.class {}
CallRouteSchema.setClass(CallRoute);

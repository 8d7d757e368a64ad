import { defineEntity, p } from '@mikro-orm/core';

/** A virtual key of the router, stored as its SHA-256 only. */
const VirtualKeySchema = defineEntity({
  name: 'VirtualKey',
  tableName: 'virtual_keys',
  properties: {
    tokenHash: p.blob().primary(),
    /** The account that owns the key. */
    userId: p.text().nullable(),
    keyAlias: p.text().nullable(),
    createdAt: p.datetime(6).onCreate(() => new Date()),
  },
});

export class VirtualKey extends VirtualKeySchema.class {}
VirtualKeySchema.setClass(VirtualKey);

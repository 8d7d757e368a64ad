import { defineEntity, p } from '@mikro-orm/core';

/** A secret of the installation that doesn't change when secrets in the environment are rotated. */
const SealedSecretSchema = defineEntity({
  name: 'SealedSecret',
  tableName: 'sealed_secrets',
  properties: {
    name: p.text().primary(),
    sealed: p.text().hidden(),
  },
});

export class SealedSecret extends SealedSecretSchema.class {}
SealedSecretSchema.setClass(SealedSecret);

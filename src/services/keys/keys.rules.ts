export const MAX_KEYS = 100;

/** Binds a sealed virtual key to its row (associated data of the envelope). The edge opens it with the same value. */
export function virtualKeyField(keyId: string): string {
  return `api_key:${keyId}:virtual_key`;
}

/** The same for an account's own virtual key. */
export function accountVirtualKeyField(accountId: string): string {
  return `account:${accountId}:virtual_key`;
}

/** The same for an account's data key. */
export function dataKeyField(accountId: string): string {
  return `account:${accountId}:data_key`;
}

/** Name of a key's virtual key at the model proxy, where it must be unique. */
export function virtualKeyAlias(keyId: string): string {
  return `api-key-${keyId}`;
}

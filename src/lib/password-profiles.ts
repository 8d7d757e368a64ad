/** Cost of hashing a password, by the profile in `PASSWORD_HASH_PROFILE`. */
export const PASSWORD_PROFILES = {
  /** OWASP's argon2id: 19 MiB, two passes, one lane. */
  owasp: { memoryCost: 19_456, timeCost: 2, parallelism: 1 },
  /** The minimum that argon2 accepts, for tests of other features. Refused in production. */
  test: { memoryCost: 8, timeCost: 1, parallelism: 1 },
} as const;

/** Parameters of argon2id: KiB of memory, passes over it, lanes. */
export interface PasswordHashing {
  memoryCost: number;
  timeCost: number;
  parallelism: number;
}

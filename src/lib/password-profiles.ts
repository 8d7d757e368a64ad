/** What hashing a password costs, by name of the profile that `PASSWORD_HASH_PROFILE` chooses. */
export const PASSWORD_PROFILES = {
  /** OWASP's argon2id: 19 MiB, two passes, one lane. */
  owasp: { memoryCost: 19_456, timeCost: 2, parallelism: 1 },
  /** The least that argon2 accepts, for tests that log in and are about something else. Refused in production. */
  test: { memoryCost: 8, timeCost: 1, parallelism: 1 },
} as const;

/** Parameters of argon2id: KiB of memory, passes over it, lanes. */
export interface PasswordHashing {
  memoryCost: number;
  timeCost: number;
  parallelism: number;
}

/** The secrets of the tests, which all processes share. */
export const TEST_SECRETS = {
  JWT_SECRET: 'jwt-secret-of-the-tests-0123456789abcdef',
  ENCRYPTION_KEY: 'encryption-key-of-the-tests-0123456789abc',
  WEBHOOK_SECRET: 'webhook-secret-of-the-tests-0123456789abc',
  UPSTREAM_MASTER_KEY: 'master-key-of-the-tests-0123456789abcdef',
};

/** The nodes' secret of the product that test files share. */
export const HEARTBEAT_SECRET = 'heartbeat-secret-of-the-tests-0123456789abc';

interface Example {
  query: string;
  variables?: string;
}

const json = (variables: object): string => JSON.stringify(variables, null, 2);

const SIGN_UP = `# 1. Make an account, with $1.00 of credit.
# Its token then goes with every tab.
mutation SignUp($input: SignupInput!) {
  signup(input: $input) {
    accessToken
    expiresIn
    user {
      email
      planId
      balanceUsd
    }
  }
}
`;

const LOG_IN = `# Or log in to the account that you have.
mutation LogIn($input: LoginInput!) {
  login(input: $input) {
    accessToken
    user {
      email
    }
  }
}
`;

const CREATE_KEY = `# 2. Make a key for /v1.
# Its secret is shown this once.
mutation CreateKey($input: CreateApiKeyInput!) {
  createApiKey(input: $input) {
    key
    apiKey {
      id
      keyPrefix
      status
    }
  }
}
`;

const WATCH_USAGE = `# 3. Run this, then call /v1 with the key:
# each call shows up here with its cost.
subscription WatchUsage {
  usageRecorded {
    id
    createdAt
    modelPublicName
    status
    inputTokens
    outputTokens
    costUsd
    latencyMs
  }
}
`;

const LIST_USAGE = `# 4. The last calls, the balance,
# and what each key has spent.
query ListUsage($first: Int!) {
  viewer {
    balanceUsd
    apiKeys {
      nodes {
        name
        keyPrefix
        spendTodayUsd
        spendMonthUsd
      }
    }
    usageEvents(first: $first) {
      totalCount
      nodes {
        createdAt
        modelPublicName
        status
        costUsd
        latencyMs
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
}
`;

const TOP_UP = `# 5. Add credit. A mock: no card is charged.
# The same idempotencyKey again moves nothing.
mutation TopUp($input: TopUpInput!) {
  topUp(input: $input) {
    balanceUsd
    planName
  }
}
`;

/** The tabs of a first visit: common tasks, in the order in which a new user does them. */
export const examples: Example[] = [
  {
    query: SIGN_UP,
    variables: json({ input: { email: 'you@example.com', password: 'choose a long one', name: 'You' } }),
  },
  { query: LOG_IN, variables: json({ input: { email: 'you@example.com', password: 'choose a long one' } }) },
  { query: CREATE_KEY, variables: json({ input: { name: 'first' } }) },
  { query: WATCH_USAGE },
  { query: LIST_USAGE, variables: json({ first: 10 }) },
  { query: TOP_UP, variables: json({ input: { amountUsd: 10, idempotencyKey: 'playground-1' } }) },
];

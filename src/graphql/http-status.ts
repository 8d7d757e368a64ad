import type { GraphQLFormattedError } from 'graphql';

/** Media type of GraphQL's own answers: with it the status says whether an operation ran. */
const RESPONSE_JSON = 'application/graphql-response+json';

/** Every answer is JSON, as it is under `/api`, whatever else a client would rather take. */
export const settledAccept = (accept = ''): string =>
  accept.includes(RESPONSE_JSON) ? RESPONSE_JSON : 'application/json';

/**
 * Status of an answer whose document or variables are at fault. As `application/json` that is 200 (GraphQL over HTTP,
 * 6.4.1): whoever takes it may be a client that doesn't read a body of another status. A request that holds no
 * operation at all stays 400.
 */
export function statusOfFaults(errors: readonly GraphQLFormattedError[], accept: string | undefined): number {
  const holdsNone = errors.some(({ extensions }) => extensions?.code === 'invalid_body');
  return accept === RESPONSE_JSON || holdsNone ? 400 : 200;
}

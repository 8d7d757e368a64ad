import type { GraphQLFormattedError } from 'graphql';

/** Media type of GraphQL responses whose status shows whether an operation ran. */
const RESPONSE_JSON = 'application/graphql-response+json';

/** Every response is JSON, as under `/api`, even if the client prefers another type. */
export const settledAccept = (accept = ''): string =>
  accept.includes(RESPONSE_JSON) ? RESPONSE_JSON : 'application/json';

/**
 * Status of a response to an invalid document or invalid variables. As `application/json` that is 200 (GraphQL over
 * HTTP, 6.4.1), because clients of that type may not read a body with another status. A request without any operation
 * gets 400.
 */
export function statusOfFaults(errors: readonly GraphQLFormattedError[], accept: string | undefined): number {
  const holdsNone = errors.some(({ extensions }) => extensions?.code === 'invalid_body');
  return accept === RESPONSE_JSON || holdsNone ? 400 : 200;
}

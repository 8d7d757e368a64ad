import { GraphQLError } from 'graphql';
import type { FieldIssue } from '../errors.js';
import { truncateMessage, truncateUtf8 } from '../lib/truncate.js';

const VARIABLE = /^Variable "\$([^"]*)" /;
const ARGUMENT = /^Argument "([^"]*)" /;
/** graphql stops at 50 errors and adds one that reports this. */
const GIVEN_UP = /^Too many errors processing variables/;
const PLACE = / at "([^"]*)"$/;

/** graphql's messages about values as messages about fields. They never repeat the value. */
const WORDS: readonly [RegExp, (match: RegExpExecArray) => { field?: string; message: string }][] = [
  [
    /^Field "([^"]+)" is not defined by type/,
    ([, field]) => ({ field: field!, message: 'is not a known field' }),
  ],
  [
    /^Field "([^"]+)" of required type .* was not provided/,
    ([, field]) => ({ field: field!, message: 'is required' }),
  ],
  [/^Expected non-nullable type .* not to be null/, () => ({ message: 'must not be null' })],
  [/^Value .* does not exist in "([^"]+)" enum/s, ([, type]) => ({ message: `must be one of ${type}` })],
  [/^(?:Enum )?"?(\w+)"? cannot represent/, ([, type]) => ({ message: `must be of type ${type}` })],
  [/^Expected type "([^"]+)" to be an object/, () => ({ message: 'must be an object' })],
];

/** The faults of a value, as details of `validation_error`; undefined for any other error. */
export function valueFaults(error: GraphQLError): FieldIssue[] | undefined {
  if (GIVEN_UP.test(error.message)) {
    return [{ field: 'input', message: 'has more errors than are listed here' }];
  }
  const fault = variableFault(error) ?? argumentFault(error);
  return fault && [{ field: truncateUtf8(fault.field), message: truncateMessage(fault.message) }];
}

/** Only a variable without a value gets as far as the execution; everything else is an error of the document. */
function argumentFault({ message }: GraphQLError): FieldIssue | undefined {
  const field = ARGUMENT.exec(message)?.[1];
  if (field === undefined) return undefined;
  return { field, message: message.includes('must not be null') ? 'must not be null' : 'is required' };
}

function variableFault(error: GraphQLError): FieldIssue | undefined {
  const variable = VARIABLE.exec(error.message)?.[1];
  if (variable === undefined) return undefined;
  const { originalError } = error;
  if (!(originalError instanceof GraphQLError) || originalError.message === error.message) {
    const missing = / of (?:required|non-null) type /.test(error.message);
    return { field: variable, message: missing ? 'is required' : 'is not valid' };
  }
  const reason = originalError.message;
  const place = PLACE.exec(error.message.slice(0, -`; ${reason}`.length))?.[1] ?? variable;
  const { field, message } = wordsOf(reason);
  const path = [...place.split('.').slice(1), ...(field === undefined ? [] : [field])];
  return { field: path.join('.') || variable, message };
}

function wordsOf(reason: string): { field?: string; message: string } {
  for (const [pattern, say] of WORDS) {
    const match = pattern.exec(reason);
    if (match) return say(match);
  }
  return { message: reason };
}

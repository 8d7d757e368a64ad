import { maxAliasesRule } from '@escape.tech/graphql-armor-max-aliases';
import { maxDepthRule } from '@escape.tech/graphql-armor-max-depth';
import {
  type ASTNode,
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  getVariableValues,
  Kind,
  NoSchemaIntrospectionCustomRule,
  type OperationDefinitionNode,
  parse,
  type SelectionSetNode,
  SingleFieldSubscriptionsRule,
  type ValidationContext,
  type ValidationRule,
  validate,
} from 'graphql';
import { fieldExtensionsEstimator, getComplexity, simpleEstimator } from 'graphql-query-complexity';
import { provesIdentity } from './access.js';
import { documentError } from './errors.js';
import { refuseRepetition } from './selections.js';

/** Limits of one document (requirement T12). */
export const LIMITS = {
  depth: 12,
  /** For a document with introspection. */
  introspectionDepth: 20,
  aliases: 15,
  tokens: 2_000,
  /** Number of values a response may contain; a list counts as its requested length. */
  cost: 10_000,
  /** The same for one event of a subscription. Events don't count toward their caller's rate. */
  eventCost: 100,
} as const;

export const parseOptions = { maxTokens: LIMITS.tokens } as const;

/** By default Armor throws out of the validation and reports every refusal as a syntax error. */
const reporting = {
  propagateOnRejection: false,
  onReject: [
    (context: ValidationContext | null, error: GraphQLError): void => {
      const message = error.message.replace('Syntax Error: ', '');
      context?.reportError(new GraphQLError(message, { extensions: error.extensions }));
    },
  ],
};

interface DepthVisitor {
  countDepth(node: ASTNode, parentDepth?: number): number;
}

/** The rule exempts `__schema` as introspection, but not `__type`. */
const ignoringTypes =
  (rule: unknown) =>
  (context: ValidationContext): DepthVisitor => {
    const visitor = (rule as (context: ValidationContext) => DepthVisitor)(context);
    const count = visitor.countDepth.bind(visitor);
    visitor.countDepth = (node, parentDepth) =>
      node.kind === Kind.FIELD && node.name.value === '__type' ? 0 : count(node, parentDepth);
    return visitor;
  };

/** Rules in addition to those of the specification, for HTTP and WebSocket. */
export function validationRules({ introspection }: { introspection: boolean }): ValidationRule[] {
  const depth = { ...reporting, flattenFragments: true };
  const rules = [
    ignoringTypes(maxDepthRule({ ...depth, n: LIMITS.depth, ignoreIntrospection: true })),
    maxDepthRule({ ...depth, n: LIMITS.introspectionDepth, ignoreIntrospection: false }),
    maxAliasesRule({ ...reporting, n: LIMITS.aliases, allowList: [] }),
  ] as unknown as ValidationRule[];
  return introspection ? rules : [...rules, NoSchemaIntrospectionCustomRule];
}

/**
 * Refuses documents that graphql must not validate.
 *
 * Repetition is slow to validate. And graphql's rule on subscriptions runs directives without their variables and
 * throws out of the validation if one is missing, which Apollo reports as an internal error. So that rule is tried
 * alone before anything else.
 * @throws GraphQLError
 */
export function refuseUnvalidatable(schema: GraphQLSchema, source: unknown): void {
  if (typeof source !== 'string') return;
  let document: DocumentNode;
  try {
    document = parse(source, parseOptions);
  } catch {
    // The parser reports it with its own message.
    return;
  }
  refuseRepetition(document);
  if (!source.includes('subscription')) return;
  try {
    validate(schema, document, [SingleFieldSubscriptionsRule]);
  } catch (error) {
    throw documentError((error as Error).message);
  }
}

export interface Operation {
  schema: GraphQLSchema;
  document: DocumentNode;
  /** The operation of the document that will run. */
  operation: OperationDefinitionNode;
  variables: Record<string, unknown>;
}

/** The weight of an operation. */
export interface OperationWeight {
  /** Values that the response may contain, plus reads that count as such. */
  cost: number;
  /** Number of a mutation's root fields; 0 for other operations. */
  mutations: number;
}

/**
 * Checks the operation that will run, with its variables.
 * @throws GraphQLError
 */
export function checkOperation(request: Operation): OperationWeight {
  refuseManyFields(request.variables);
  const proofs = countMutations(request, provesIdentity);
  if (proofs > 1) {
    throw documentError(
      'A request may contain at most one mutation that takes a password. Send them one at a time.',
    );
  }
  const cost = costOf(request);
  refuseCost(request.operation, cost);
  return { cost, mutations: countMutations(request, () => true) };
}

function refuseCost({ operation }: OperationDefinitionNode, cost: number): void {
  if (operation === 'subscription' && cost > LIMITS.eventCost) {
    throw documentError(
      `Each event of the subscription costs ${cost}; the maximum is ${LIMITS.eventCost}. Request fewer fields, and query the rest when an event arrives.`,
    );
  }
  if (cost > LIMITS.cost) {
    throw documentError(
      `The operation costs ${cost}; the maximum is ${LIMITS.cost}. Request shorter lists or fewer fields.`,
    );
  }
}

/**
 * The execution refuses invalid variables, so they cost nothing. Invalid arguments fail only their own field, and the
 * others would run uncounted: they are refused here.
 */
function costOf({ schema, document, operation, variables }: Operation): number {
  const definitions = operation.variableDefinitions ?? [];
  const { errors } = getVariableValues(schema, definitions, variables, { maxErrors: MOST_FAULTS });
  if (errors) return 0;
  const fragments = document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION);
  try {
    return getComplexity({
      schema,
      // Without the other operations: the library assumes that each has a name.
      query: { kind: Kind.DOCUMENT, definitions: [operation, ...fragments] },
      variables,
      estimators: [fieldExtensionsEstimator(), simpleEstimator({ defaultComplexity: 1 })],
    });
  } catch (error) {
    throw documentError((error as Error).message);
  }
}

/** Counts the root fields of a mutation that compare or set a password: each costs a hash and is an attempt. */
function countMutations({ schema, document, operation }: Operation, isSuch: typeof provesIdentity): number {
  if (operation.operation !== 'mutation') return 0;
  const fields = schema.getMutationType()!.getFields();
  const fragments = new Map(
    document.definitions.flatMap((node) =>
      node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node] as const] : [],
    ),
  );
  // Each fragment once: nested spreads can multiply exponentially.
  const counted = new Map<string, number>();
  const countFragment = (name: string): number => {
    const known = counted.get(name);
    if (known !== undefined) return known;
    const found = count(fragments.get(name)!.selectionSet);
    counted.set(name, found);
    return found;
  };
  const count = ({ selections }: SelectionSetNode): number =>
    selections.reduce((sum, node) => {
      if (node.kind === Kind.FIELD) return sum + Number(isSuch(fields[node.name.value]));
      if (node.kind === Kind.INLINE_FRAGMENT) return sum + count(node.selectionSet);
      return sum + countFragment(node.name.value);
    }, 0);
  return count(operation.selectionSet);
}

/** Over all objects in the variables; several times as many as any input has. */
const MOST_FIELDS = 2_000;
/** Most faults to report. graphql's execution has the same limit. */
const MOST_FAULTS = 50;

/**
 * Refuses variables with more fields than any input. graphql includes the whole object in the message about each
 * unknown field, so time and memory would grow with the square of their number.
 * @throws GraphQLError
 */
function refuseManyFields(variables: Record<string, unknown>): void {
  let fields = 0;
  // Not recursive: JSON may be nested as deeply as it is long.
  const left: unknown[] = [variables];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value !== 'object' || value === null) continue;
    const inner = Object.values(value);
    if (!Array.isArray(value)) fields += inner.length;
    if (fields > MOST_FIELDS) {
      throw documentError(`The variables have more than ${MOST_FIELDS} fields. No input has as many.`);
    }
    for (const one of inner) left.push(one);
  }
}

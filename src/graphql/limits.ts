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
import { MOST_FAULTS, refuseManyFields } from './variable-limits.js';

/** Limits of one document (requirement T12). */
export const LIMITS = {
  depth: 12,
  /** Of a document with introspection in it. */
  introspectionDepth: 20,
  aliases: 15,
  tokens: 2_000,
  /** Number of values a response may contain; a list counts as its requested length. */
  cost: 10_000,
  /** The same of one event of a subscription. Events take nothing from their caller's rate, however many come. */
  eventCost: 100,
} as const;

export const parseOptions = { maxTokens: LIMITS.tokens } as const;

/** Armor throws out of the validation unless told otherwise, and calls every refusal a syntax error. */
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

/** The rule leaves out `__schema` as introspection, but not `__type`. */
const ignoringTypes =
  (rule: unknown) =>
  (context: ValidationContext): DepthVisitor => {
    const visitor = (rule as (context: ValidationContext) => DepthVisitor)(context);
    const count = visitor.countDepth.bind(visitor);
    visitor.countDepth = (node, parentDepth) =>
      node.kind === Kind.FIELD && node.name.value === '__type' ? 0 : count(node, parentDepth);
    return visitor;
  };

/** Rules beside those of the specification, for HTTP and WebSocket alike. */
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
 * What must be refused before graphql validates a document.
 *
 * Repetition is slow to validate. And graphql's rule on subscriptions runs directives without their variables and throws
 * out of the validation when one is missing: Apollo would call that a fault of ours. It is tried by itself before
 * anything else.
 * @throws GraphQLError
 */
export function refuseUnvalidatable(schema: GraphQLSchema, source: unknown): void {
  if (typeof source !== 'string') return;
  let document: DocumentNode;
  try {
    document = parse(source, parseOptions);
  } catch {
    // The parser's own message.
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
  /** The one of the document that is to run. */
  operation: OperationDefinitionNode;
  variables: Record<string, unknown>;
}

/** What an operation asks for. */
export interface OperationWeight {
  /** Values that the answer may hold, and readings that count as such. */
  cost: number;
  /** Root fields of a mutation; 0 of anything else. */
  mutations: number;
}

/**
 * What can only be judged of the operation that is to run, with its variables.
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
 * The execution refuses variables that don't fit, so that they cost nothing. Arguments that don't fit fail their own
 * field only, and the others would run uncounted: they are refused here.
 */
function costOf({ schema, document, operation, variables }: Operation): number {
  const definitions = operation.variableDefinitions ?? [];
  const { errors } = getVariableValues(schema, definitions, variables, { maxErrors: MOST_FAULTS });
  if (errors) return 0;
  const fragments = document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION);
  try {
    return getComplexity({
      schema,
      // Without the operations that don't run: the library takes the name of each for granted.
      query: { kind: Kind.DOCUMENT, definitions: [operation, ...fragments] },
      variables,
      estimators: [fieldExtensionsEstimator(), simpleEstimator({ defaultComplexity: 1 })],
    });
  } catch (error) {
    throw documentError((error as Error).message);
  }
}

/** How many root fields of a mutation are such: each that compares or sets a password costs a hash and is a try. */
function countMutations({ schema, document, operation }: Operation, isSuch: typeof provesIdentity): number {
  if (operation.operation !== 'mutation') return 0;
  const fields = schema.getMutationType()!.getFields();
  const fragments = new Map(
    document.definitions.flatMap((node) =>
      node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node] as const] : [],
    ),
  );
  // Each fragment once: spread in one another they are exponentially many.
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

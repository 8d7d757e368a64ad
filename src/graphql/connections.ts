import type { ClassType } from 'type-graphql';
import { ArgsType, Field, Int, ObjectType } from 'type-graphql';
import { type ConnectionPage, MAX_PAGE } from '../lib/connection-input.js';

/** Start and size of a page. */
@ArgsType()
export class PageArgs {
  @Field(() => Int, { defaultValue: 50, description: `Number of entries to return, 1 to ${MAX_PAGE}.` })
  first!: number;

  @Field(() => String, { nullable: true, description: 'Cursor of the entry after which the page starts.' })
  after?: string | null;
}

@ObjectType({ description: 'Position of a page in its list.' })
export class PageInfo {
  @Field({ description: 'Whether there are entries after this page.' })
  hasNextPage!: boolean;

  @Field({ description: 'Whether there are entries before this page.' })
  hasPreviousPage!: boolean;

  @Field(() => String, { nullable: true, description: 'Cursor of the first entry; null on an empty page.' })
  startCursor!: string | null;

  @Field(() => String, { nullable: true, description: 'Cursor of the last entry; null on an empty page.' })
  endCursor!: string | null;
}

/** A connection of any node type. */
export interface Connection<Node> {
  edges: { cursor: string; node: Node }[];
  nodes: Node[];
  pageInfo: PageInfo;
}

/** Cost of a list: the cost of an entry times the number of requested entries. */
export const pageCost = ({ args, childComplexity }: { args: { first?: number }; childComplexity: number }) =>
  1 + Math.min(Math.max(args.first ?? 50, 1), MAX_PAGE) * childComplexity;

/** The description of a connection type. */
export const pageOf = (what: string): string => `A page of ${what}, newest first.`;

/** Makes what a connection's class extends, with its edge type. `what` names the entries. */
export function connectionOf<Node extends object>(NodeClass: ClassType<Node>, what: string) {
  @ObjectType(`${NodeClass.name}Edge`, { description: `One of the ${what} with its cursor.` })
  class EdgeType {
    @Field({ description: 'Cursor of the entry, to pass as `after`.' })
    cursor!: string;

    @Field(() => NodeClass, { description: 'The entry.' })
    node!: Node;
  }

  @ObjectType()
  abstract class ConnectionType implements Connection<Node> {
    @Field(() => [EdgeType], { description: 'The entries with their cursors.' })
    edges!: EdgeType[];

    @Field(() => [NodeClass], { description: 'The entries without cursors.' })
    nodes!: Node[];

    @Field(() => PageInfo, { description: 'Position of the page in its list.' })
    pageInfo!: PageInfo;
  }
  return ConnectionType;
}

/** A page of a service as a connection. */
export function toConnection<From, Node>(
  { edges, hasNextPage, hasPreviousPage }: ConnectionPage<From>,
  { after }: PageArgs,
  toNode: (from: From) => Node,
): Connection<Node> {
  const made = edges.map(({ cursor, node }) => ({ cursor, node: toNode(node) }));
  return {
    edges: made,
    nodes: made.map(({ node }) => node),
    pageInfo: {
      hasNextPage,
      hasPreviousPage: hasPreviousPage ?? (after !== undefined && after !== null),
      startCursor: made[0]?.cursor ?? null,
      endCursor: made.at(-1)?.cursor ?? null,
    },
  };
}

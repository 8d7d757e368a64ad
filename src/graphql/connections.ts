import type { ClassType } from 'type-graphql';
import { Field, ObjectType } from 'type-graphql';
import { z } from 'zod';
import { type ConnectionPage, DEFAULT_PAGE, firstUpTo, MAX_PAGE } from '../lib/connection-input.js';
import { type Camel, camelCased } from './case.js';

/** Start and size of a page. */
export const connectionArgs = z.object({
  first: firstUpTo(MAX_PAGE),
  after: z.string().nullish().describe('Cursor of the entry after which the page starts.'),
});

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

/** Values of a `PageInfo`. */
const POSITION_COST = 5;
/** Fields that a page has once, such as `pageInfo`, are included in the page's base cost. */
export const costOfPage = (): number => 0;

/** Cost of an entry with one field. Entries are read even if only `pageInfo` is requested. */
const LEAST_ENTRY_COST = 2;

/** Entries that a page can have at most, for its cost: `first` as requested, not validated yet. */
export const pageSize = (first: number, most: number): number => Math.min(Math.max(first, 1), most);

/** Cost of a list: the cost of an entry times the number of requested entries. */
export const pageCost = ({
  args,
  childComplexity,
}: {
  args: { first?: number };
  childComplexity: number;
}) => {
  const entries = pageSize(args.first ?? DEFAULT_PAGE, MAX_PAGE);
  return POSITION_COST + entries * Math.max(LEAST_ENTRY_COST, childComplexity);
};

/** Cost of a list with `limit`, whose entries have no base cost. */
export const listCost = ({ args, childComplexity }: { args: { limit?: number }; childComplexity: number }) =>
  1 + pageSize(args.limit ?? 50, 500) * childComplexity;

/** Makes the connection of a type, with its edge type. `what` names the entries. */
export function connectionOf<Node extends object>(
  NodeClass: ClassType<Node>,
  what: string,
): new () => Connection<Node> {
  @ObjectType(`${NodeClass.name}Edge`, { description: `One of the ${what} with its cursor.` })
  class EdgeType {
    @Field({ description: 'Cursor of the entry, to pass as `after`.' })
    cursor!: string;

    @Field(() => NodeClass, { description: 'The entry.' })
    node!: Node;
  }

  @ObjectType(`${NodeClass.name}Connection`, { description: `A page of ${what}, newest first.` })
  class ConnectionType implements Connection<Node> {
    @Field(() => [EdgeType], { description: 'The entries with their cursors.' })
    edges!: EdgeType[];

    @Field(() => [NodeClass], { description: 'The entries without cursors.' })
    nodes!: Node[];

    @Field(() => PageInfo, { description: 'Position of the page in its list.', complexity: costOfPage })
    pageInfo!: PageInfo;
  }
  return ConnectionType;
}

/** A service's page as a connection. */
export async function toConnection<From>(
  page: ConnectionPage<From> | Promise<ConnectionPage<From>>,
  { after }: { after?: string | null | undefined },
): Promise<Connection<Camel<From>>> {
  const { edges, hasNextPage, hasPreviousPage } = await page;
  const made = edges.map(({ cursor, node }) => ({ cursor, node: camelCased(node) }));
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

import { Args, Resolver, Root, Subscription } from 'type-graphql';
import type { NodesChangeOutput } from '../../services/nodes/nodes.outputs.js';
import { Allow } from '../access.js';
import { camelCased } from '../case.js';
import type { GraphqlContext } from '../context.js';
import { GpuNodesChange, NodesChangedArgs } from './nodes.types.js';

/** Live changes of nodes. */
@Resolver()
export class NodeSubscriptions {
  @Allow('admin')
  @Subscription(() => GpuNodesChange, {
    description:
      'Sends all GPU nodes, then each node that is registered, changed or deleted, sends a heartbeat or has other calls in flight. Changes in quick succession arrive as one event. Requires an administrator.',
    subscribe: ({ args, context }: { args: NodesChangedArgs; context: GraphqlContext }) =>
      context.services.nodeFeed.nodesChanged(context.service, args.nodeId ?? undefined),
  })
  gpuNodesChanged(@Root() change: NodesChangeOutput, @Args() _args: NodesChangedArgs): GpuNodesChange {
    return camelCased(change);
  }
}

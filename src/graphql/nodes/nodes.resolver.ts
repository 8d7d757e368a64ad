import { Arg, Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { economicsInput } from '../../services/nodes/economics.inputs.js';
import {
  compareBenchmarksInput,
  createNodeInput,
  heartbeatsInput,
  listBenchmarksInput,
  updateNodeInput,
} from '../../services/nodes/nodes.inputs.js';
import { Allow } from '../access.js';
import { camelCased } from '../case.js';
import type { GraphqlContext } from '../context.js';
import { checked, given } from '../input.js';
import {
  Benchmark,
  BenchmarkComparison,
  BenchmarksArgs,
  CompareBenchmarksArgs,
  CreateGpuNodeInput,
  CreateGpuNodePayload,
  DeleteGpuNodeInput,
  DeleteGpuNodePayload,
  GpuNode,
  GpuNodeSettings,
  NodeArgs,
  NodeEconomics,
  NodeEconomicsArgs,
  NodeHeartbeat,
  NodeHeartbeatsArgs,
  NodesArgs,
  UpdateGpuNodeInput,
  UpdateGpuNodePayload,
} from './nodes.types.js';

/** Cost of a list with `limit`: of its entries, however many there are. */
const listCost = ({ args, childComplexity }: { args: { limit?: number }; childComplexity: number }) =>
  1 + Math.min(Math.max(args.limit ?? 50, 1), 500) * childComplexity;

/** GPU nodes and their benchmarks, for administrators. */
@Resolver()
export class NodesResolver {
  @Allow('admin')
  @Query(() => [GpuNode], {
    description: 'GPU nodes, newest first. Requires an administrator.',
    complexity: listCost,
  })
  async gpuNodes(@Args() args: NodesArgs, @Ctx() { services, service }: GraphqlContext): Promise<GpuNode[]> {
    return camelCased(await services.nodes.list(service, checked(heartbeatsInput, args)));
  }

  @Allow('admin')
  @Query(() => GpuNode, { nullable: true, description: 'A GPU node. Requires an administrator.' })
  async gpuNode(@Args() { id }: NodeArgs, @Ctx() { services, service }: GraphqlContext): Promise<GpuNode> {
    return camelCased(await services.nodes.get(service, id));
  }

  @Allow('admin')
  @Query(() => GpuNodeSettings, {
    description: 'Settings of the node registry. Requires an administrator.',
  })
  gpuNodeSettings(@Ctx() { services, service }: GraphqlContext): GpuNodeSettings {
    return camelCased(services.nodes.settings(service));
  }

  @Allow('admin')
  @Query(() => [NodeHeartbeat], {
    nullable: true,
    description:
      'Metrics that heartbeats of a node carried in the last 24 hours, newest first. Requires an administrator.',
    complexity: listCost,
  })
  async gpuNodeHeartbeats(
    @Args() { id, ...args }: NodeHeartbeatsArgs,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<NodeHeartbeat[]> {
    return camelCased(await services.nodes.heartbeats(service, id, checked(heartbeatsInput, args)));
  }

  @Allow('admin')
  @Query(() => [Benchmark], {
    description: 'Benchmark runs, newest first. Requires an administrator.',
    complexity: listCost,
  })
  async benchmarks(
    @Args() args: BenchmarksArgs,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<Benchmark[]> {
    return camelCased(await services.benchmarks.list(service, checked(listBenchmarksInput, given(args))));
  }

  @Allow('admin')
  @Query(() => [Benchmark], {
    description: 'The latest run of each node and model. Requires an administrator.',
    complexity: listCost,
  })
  async latestBenchmarks(@Ctx() { services, service }: GraphqlContext): Promise<Benchmark[]> {
    return camelCased(await services.benchmarks.latest(service));
  }

  @Allow('admin')
  @Query(() => BenchmarkComparison, {
    nullable: true,
    description: 'Two benchmark runs, measure by measure. Requires an administrator.',
  })
  async benchmarkComparison(
    @Args() args: CompareBenchmarksArgs,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<BenchmarkComparison> {
    return camelCased(await services.benchmarks.compare(service, checked(compareBenchmarksInput, args)));
  }

  @Allow('admin')
  @Query(() => [NodeEconomics], {
    description:
      'What nodes earned and cost in a window, the largest margin of one hour first. Requires an administrator.',
    complexity: listCost,
  })
  async nodeEconomics(
    @Args() args: NodeEconomicsArgs,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<NodeEconomics[]> {
    return camelCased(await services.economics.list(service, checked(economicsInput, args)));
  }

  @Allow('admin')
  @Mutation(() => CreateGpuNodePayload, {
    description:
      'Registers a GPU node. It is active, and unhealthy until its first heartbeat. Requires an administrator.',
  })
  async createGpuNode(
    @Arg('input', { description: 'The node.' }) input: CreateGpuNodeInput,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<CreateGpuNodePayload> {
    return { node: camelCased(await services.nodes.create(service, checked(createNodeInput, input))) };
  }

  @Allow('admin')
  @Mutation(() => UpdateGpuNodePayload, {
    description:
      'Changes a GPU node. A draining or offline node gets no new calls. Requires an administrator.',
  })
  async updateGpuNode(
    @Arg('input', { description: 'Node and changes.' }) { id, ...change }: UpdateGpuNodeInput,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<UpdateGpuNodePayload> {
    return { node: camelCased(await services.nodes.update(service, id, checked(updateNodeInput, change))) };
  }

  @Allow('admin')
  @Mutation(() => DeleteGpuNodePayload, {
    description: 'Deletes a GPU node and its heartbeats. Its benchmarks stay. Requires an administrator.',
  })
  async deleteGpuNode(
    @Arg('input', { description: 'The node.' }) { id }: DeleteGpuNodeInput,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<DeleteGpuNodePayload> {
    await services.nodes.remove(service, id);
    return { deletedGpuNodeId: id };
  }
}

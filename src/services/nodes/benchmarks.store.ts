import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { UNTRACKED } from '../../db/untracked.js';
import { GpuBenchmark } from '../../entities/nodes/gpu-benchmark.js';
import type { PageInput } from '../../lib/page-input.js';

/** Newest first, optionally of one node or model. */
export function listBenchmarks(
  em: EntityManager,
  { limit, offset, ...of }: PageInput & { nodeId?: string; model?: string },
): Promise<GpuBenchmark[]> {
  return em.find(GpuBenchmark, of, {
    ...UNTRACKED,
    orderBy: { createdAt: 'desc', id: 'desc' },
    limit,
    offset,
  });
}

/** The id must be a UUID. */
export function findBenchmark(em: EntityManager, id: string): Promise<GpuBenchmark | null> {
  return em.findOne(GpuBenchmark, { id }, UNTRACKED);
}

/** The latest run of each node and model, newest first. */
export async function latestBenchmarks(em: EntityManager): Promise<GpuBenchmark[]> {
  const { rows } = await sql<{ id: string }>`
    select distinct on (node_id, model) id from gpu_benchmarks
    order by node_id, model, created_at desc, id desc`.execute(em.getKysely());
  return em.find(
    GpuBenchmark,
    { id: { $in: rows.map(({ id }) => id) } },
    { ...UNTRACKED, orderBy: { createdAt: 'desc', id: 'desc' } },
  );
}

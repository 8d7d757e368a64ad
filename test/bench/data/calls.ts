import type pg from 'pg';

/** A month of calls to make, or a part of one. */
export interface Period {
  from: Date;
  until: Date;
  /** Of the calls of all periods. */
  share: number;
}

/** Calls come in bursts, as programs make them: this many within a quarter of an hour. */
const BURST = 8;

/**
 * Makes the calls of a period, in the columns of `usage_events`, in `bench_calls`. Every choice is random and one
 * `insert`: an account's share of its calls, keys and models by a falling preference, one call in 33 fails.
 */
export async function makeCalls(client: pg.ClientBase, { from, until, share }: Period): Promise<void> {
  await client.query('create unlogged table if not exists bench_calls (like usage_events)');
  await client.query('truncate bench_calls');
  await client.query(
    `insert into bench_calls (id, created_at, account_id, key_id, widget_id, requested_model, served_model, endpoint, stream,
       input_tokens, output_tokens, price_in, price_out, cost, latency_ms, ttft_ms, status, error_code, http_status,
       client_aborted, estimated, anomalous, prompt_version_id, deployment, node_id, node_calls)
     with drawn as (
       select b.*, random() as luck, random() as of_widget, power(random(), 2) as of_key, power(random(), 2) as of_model,
         random() as of_version, random() as of_node, power(random(), 3) as reads, power(random(), 2) as writes,
         least($2::timestamptz - interval '1 millisecond', date_trunc('milliseconds', $1::timestamptz
           + ($2::timestamptz - $1::timestamptz) * ((hashint8extended(nth::bigint * 16777216 + n / ${BURST}, $4::bigint) & 2147483647)
             / 2147483648.0)::float8
           + random() * interval '15 minutes')) as at,
         (80 - 700 * ln(1 - random()))::int as thought
       from bench_accounts b
         cross join lateral generate_series(0, floor(calls * $3::float8 + random())::int - 1) n
     ), chosen as (
       select d.*, m.public_name as model, m.kind = 'embedding' as embeds, m.input_price_per_million_usd as price_in,
         m.output_price_per_million_usd as price_out,
         case when of_widget < 0.05 then widgets[1 + floor(of_key * cardinality(widgets))] end as widget,
         keys[1 + floor(of_key * cardinality(keys))] as key,
         case when of_version < 0.1 and m.kind = 'chat' then versions[1 + floor(of_version * 10 * cardinality(versions))] end as version,
         d.luck < 0.03 as failed, (luck * 1000)::int % 2 = 0 as streamed, case when d.luck < 0.03 then 0 else (20 + 4000 * reads)::int end as input,
         case when d.luck < 0.03 or m.kind = 'embedding' then 0 else (5 + 800 * writes)::int end as output, node
       from drawn d
         join models m on m.public_name = d.models[1 + floor(d.of_model * cardinality(d.models))]
         left join lateral (select g.ids[1 + floor(d.of_node * cardinality(g.ids))] as node
           from bench_nodes g where g.model = m.public_name) g on true
     )
     select uuidv7(at - thought * interval '1 millisecond' - clock_timestamp()), at, id,
       case when widget is null then key end, widget, model, model, case when embeds then 'embeddings' else 'chat' end,
       not embeds and streamed, input, output, price_in, price_out,
       (input * price_in + output * price_out) / 1000000, thought + 4 * output,
       case when not failed and not embeds and streamed then thought end,
       case when failed then 'error' else 'success' end,
       case when failed then case when luck < 0.02 then 'upstream_error' else 'upstream_unavailable' end end,
       case when failed then case when luck < 0.02 then 502 else 503 end else 200 end, false, false, false, version,
       model || ' on ' || left(node::text, 8), node, 1 + (thought + input) % 16
     from chosen`,
    [from, until, share, from.getTime()],
  );
  await client.query('analyze bench_calls');
}

// Ranks and percentiles of the leaderboard, from its rows: node leaderboard.mjs https://gateway.example.com 7
const [base, days = '7'] = process.argv.slice(2);
const get = async (path) => (await fetch(`${base}/api/leaderboard${path}?window_days=${days}`)).json();
const { entries } = await get('');
const rows = await Promise.all(entries.map((entry) => get(`/${entry.model_public_name}/row`)));
const Z = 1.959963984540054; // 95 % intervals: order statistics for p95, Wilson's for the success rate
const models = rows.map(({ model_public_name: name, successes: n, errors, latency_ms, ...row }) => {
  const upTo = (i) => latency_ms.slice(0, i + 1).reduce((sum, { count }) => sum + count, 0);
  const atRank = (r) => latency_ms.find((_, i) => upTo(i) >= Math.min(n, Math.max(1, r)))?.value ?? null;
  const [calls, half] = [n + errors, Z * Math.sqrt(n * 0.95 * 0.05)];
  const [rate, square] = [n / calls, (Z * Z) / calls];
  const wide = Z * Math.sqrt((rate * (1 - rate)) / calls + square / (4 * calls));
  const rates = [-wide, wide].map((by) => (rate + square / 2 + by) / (1 + square));
  const p95s = [Math.floor(0.95 * n - half), Math.ceil(0.95 * n + half) + 1].map(atRank);
  const [p50, p95] = [0.5, 0.95].map((q) => atRank(Math.ceil(q * n)));
  return { name, p50, p95, p95s, rate, rates, price: Number(row.output_price_per_million_usd) };
});
const scaled = (part, value, best) => {
  const known = models.map((one) => one[part]).filter((one) => one !== null);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  if (value === null) return 1; // no call succeeded: the slowest
  return high === low ? best : Math.min(1, Math.max(0, (value - low) / (high - low)));
};
const score = ({ price, ...one }, rate = one.rate, p95 = one.p95) =>
  0.4 * scaled('rate', rate, 1) + 0.3 * (1 - scaled('p95', p95, 0)) + 0.3 * (1 - scaled('price', price, 0));
models.sort((a, b) => score(b) - score(a));
let [rank, lowest] = [0, Number.POSITIVE_INFINITY]; // lowest score of the first model of a rank
for (const [i, one] of models.entries()) {
  const [low, high] = [score(one, one.rates[0], one.p95s[1]), score(one, one.rates[1], one.p95s[0])];
  if (high < lowest) [rank, lowest] = [i + 1, low];
  process.stdout.write(`${[rank, one.name, score(one).toFixed(6), one.p50, one.p95].join('\t')}\n`);
}

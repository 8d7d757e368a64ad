/** The 97.5 % quantile of the normal distribution, for an interval of 95 %. */
const Z = 1.959963984540054;

/**
 * The 95 % interval of a share by Wilson's score, which stays within 0 and 1 and also holds for few observations. Without
 * observations, the interval is 0 to 1.
 */
export function wilsonInterval(hits: number, total: number): { low: number; high: number } {
  if (total === 0) return { low: 0, high: 1 };
  const share = hits / total;
  const z2 = (Z * Z) / total;
  const centre = share + z2 / 2;
  const margin = Z * Math.sqrt((share * (1 - share)) / total + z2 / (4 * total));
  return {
    low: hits === 0 ? 0 : Math.max(0, (centre - margin) / (1 + z2)),
    high: hits === total ? 1 : Math.min(1, (centre + margin) / (1 + z2)),
  };
}

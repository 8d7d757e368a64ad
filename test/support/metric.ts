/** Sum of a metric over all labels, from a process's metrics page; with `label`, over those lines that contain it. */
export async function metricOf(metricsUrl: string, name: string, label = ''): Promise<number> {
  const text = await (await fetch(metricsUrl)).text();
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .filter((line) => line.includes(label))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

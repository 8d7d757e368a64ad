/** Pixels of the drawing, without what stands below it. */
export const CHART = { height: 176, top: 20 } as const;
const PLOT = CHART.height - CHART.top;
/** What isn't nothing is seen. */
const LEAST = 2;
const WIDEST_PERCENT = 6;

/** One bar; across in percent of the width, down in pixels. */
export interface Bar {
  slotX: number;
  slotWidth: number;
  x: number;
  width: number;
  y: number;
  height: number;
}

/** Bars of values from zero, as wide as their number allows. */
export function barsOf(values: readonly number[]): Bar[] {
  const most = Math.max(...values, 0);
  const slotWidth = 100 / values.length;
  const width = Math.min(slotWidth * 0.72, WIDEST_PERCENT);
  return values.map((value, index) => {
    const height = value === 0 || most === 0 ? 0 : Math.max(LEAST, (value / most) * PLOT);
    const slotX = index * slotWidth;
    return {
      slotX,
      slotWidth,
      x: slotX + (slotWidth - width) / 2,
      width,
      y: CHART.height - height,
      height,
    };
  });
}

/** Room that a label takes, as a share of the chart. */
const LABEL_SHARE = 0.16;
const LABEL_GAP = 5;

/** Which bars are labelled: the highest and the last, unless they would stand in one another. */
export function labelledBars(values: readonly number[]): number[] {
  const most = Math.max(...values, 0);
  if (most === 0) return [];
  const highest = values.lastIndexOf(most);
  const last = values.length - 1;
  const apart = (last - highest) / values.length > 2 * LABEL_SHARE;
  return apart && values[last]! > 0 ? [highest, last] : [highest];
}

/** Where a label stands: above every bar that it reaches over. */
export function labelY(bars: readonly Bar[], index: number): number {
  const reach = Math.ceil((bars.length * LABEL_SHARE) / 2);
  const below = bars.slice(Math.max(0, index - reach), index + reach + 1);
  return Math.min(...below.map(({ y }) => y)) - LABEL_GAP;
}

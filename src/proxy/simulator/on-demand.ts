import { systemClock } from '../../lib/clock.js';
import type { StartSimulator } from '../../router/routing-source.js';

/** Starts the simulator in this process. Its modules are loaded only then. */
export const simulatorOnDemand: StartSimulator = async (models, { simulatorControls }) => {
  const { startSimulator } = await import('./server.js');
  return startSimulator({ clock: systemClock, models, controls: simulatorControls });
};

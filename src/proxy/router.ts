import { randomInt } from 'node:crypto';
import type { Deployment } from './routing.js';

export interface PublicModel {
  name: string;
  ownedBy: 'simulator' | 'gateway';
}

/** Decides where a call goes. */
export interface Router {
  /** A deployment of the group, or undefined when no such model is routed. */
  pick(model: string): Deployment | undefined;
  /** Public names in the file's order. */
  models(): PublicModel[];
}

/** Simple shuffle: each deployment of a group is as likely as the next. */
export function createRouter(deployments: readonly Deployment[]): Router {
  const groups = new Map<string, Deployment[]>();
  for (const deployment of deployments) {
    const group = groups.get(deployment.group);
    if (group) group.push(deployment);
    else groups.set(deployment.group, [deployment]);
  }
  return {
    pick(model) {
      const group = groups.get(model);
      if (!group) return undefined;
      return group.length === 1 ? group[0] : group[randomInt(group.length)];
    },
    models: () =>
      [...groups].map(([name, group]) => ({
        name,
        ownedBy: group.some((deployment) => deployment.simulated) ? 'simulator' : 'gateway',
      })),
  };
}

import { fileURLToPath } from 'node:url';

const DIST = new URL('../../../dist/', import.meta.url);

/** Address of a compiled module of the product, such as `launcher/supervisor.js`, for a script that imports it. */
export const urlInDist = (name: string): string => new URL(name, DIST).href;

/**
 * Path of a program of the product, such as `gateway/main.js`. Tests start what an operator starts: the bundle in
 * `dist/bundle`, not a copy beside the tests.
 */
export const inDist = (name: string): string => fileURLToPath(new URL(`bundle/${name}`, DIST));

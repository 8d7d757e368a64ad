import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

export interface Service {
  image: string;
  build?: string;
  command?: string | string[];
  environment?: Record<string, string>;
  env_file?: { path: string; required: boolean }[];
  volumes?: string[];
  ports?: string[];
  networks: string[] | Record<string, { ipv4_address: string }>;
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test: string[] };
  init?: boolean;
  read_only?: boolean;
  stop_grace_period?: string;
}

export interface Compose {
  services: Record<string, Service>;
  networks: { inside: { ipam: { config: { subnet: string; ip_range: string }[] } } };
  volumes: Record<string, null>;
}

export const composeText = readFileSync('docker-compose.yml', 'utf8');
/** docker-compose.yml with its anchors resolved, as Compose reads it. */
export const compose = parse(composeText, { merge: true }) as Compose;

/** The product's services, which are built from the Dockerfile. */
export const ours = Object.entries(compose.services).filter(([, { build }]) => build !== undefined);

const VARIABLE = /\$\{(\w+)(?:(:-|:\?)((?:[^{}]|\$\{[^}]*\})*))?\}/g;

/** The variables that a text refers to; `required` ones have no default. */
export const variablesIn = (text: string): { name: string; required: boolean }[] =>
  [...text.matchAll(VARIABLE)].map(([, name, operator]) => ({ name: name!, required: operator !== ':-' }));

/** Replaces variables in a text. @throws Error for a required one that isn't set */
export function interpolate(text: string, values: Record<string, string>): string {
  return text.replace(VARIABLE, (_whole, name: string, operator: string | undefined, rest = '') => {
    const value = values[name];
    if (value) return value;
    if (operator === ':-') return interpolate(rest as string, values);
    throw new Error(`${name}: ${rest}`);
  });
}

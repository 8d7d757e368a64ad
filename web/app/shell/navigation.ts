import {
  type Icon,
  IconApi,
  IconBell,
  IconBook,
  IconGauge,
  IconGraph,
  IconKey,
  IconListDetails,
  IconReceipt,
  IconUser,
} from '@tabler/icons-react';
import { paths } from '../paths';

/** One entry of the navigation and of the command palette. */
export interface Destination {
  label: string;
  icon: Icon;
  /** A page of this app, or a document of its own. */
  to?: Exclude<(typeof paths)[keyof typeof paths], typeof paths.key>;
  href?: string;
}

/** In the order of the navigation. A page that isn't here can't be found. */
export const destinations: readonly Destination[] = [
  { label: 'Overview', icon: IconGauge, to: paths.dashboard },
  { label: 'API keys', icon: IconKey, to: paths.keys },
  { label: 'Usage', icon: IconListDetails, to: paths.usage },
  { label: 'Alerts', icon: IconBell, to: paths.alerts },
  { label: 'Billing', icon: IconReceipt, to: paths.billing },
  { label: 'Profile', icon: IconUser, to: paths.profile },
];

/** For those who build on it, below the pages. */
export const developerDestinations: readonly Destination[] = [
  { label: 'Documentation', icon: IconBook, href: '/docs' },
  { label: 'REST reference', icon: IconApi, href: '/docs/api' },
  { label: 'GraphQL playground', icon: IconGraph, href: '/graphql/playground' },
];

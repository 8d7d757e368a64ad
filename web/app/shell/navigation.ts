import {
  BellIcon,
  BookIcon,
  BracesIcon,
  GaugeIcon,
  KeyRoundIcon,
  LayoutListIcon,
  type LucideIcon,
  ReceiptIcon,
  UserIcon,
  WaypointsIcon,
} from 'lucide-react';
import { paths } from '../paths';

/** One entry of the navigation and of the command palette. */
export interface Destination {
  label: string;
  icon: LucideIcon;
  /** A page of this app, or a document of its own. */
  to?: Exclude<(typeof paths)[keyof typeof paths], typeof paths.key>;
  href?: string;
}

/** In the order of the navigation. A page that isn't here can't be found. */
export const destinations: readonly Destination[] = [
  { label: 'Overview', icon: GaugeIcon, to: paths.dashboard },
  { label: 'API keys', icon: KeyRoundIcon, to: paths.keys },
  { label: 'Usage', icon: LayoutListIcon, to: paths.usage },
  { label: 'Alerts', icon: BellIcon, to: paths.alerts },
  { label: 'Billing', icon: ReceiptIcon, to: paths.billing },
  { label: 'Profile', icon: UserIcon, to: paths.profile },
];

/** For those who build on it, below the pages. */
export const developerDestinations: readonly Destination[] = [
  { label: 'Documentation', icon: BookIcon, href: '/docs' },
  { label: 'REST reference', icon: BracesIcon, href: '/docs/api' },
  { label: 'GraphQL playground', icon: WaypointsIcon, href: '/graphql/playground' },
];

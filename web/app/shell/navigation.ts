import {
  BellIcon,
  BookIcon,
  BracesIcon,
  FileTextIcon,
  GaugeIcon,
  KeyRoundIcon,
  LayoutListIcon,
  type LucideIcon,
  MessageCircleIcon,
  MessagesSquareIcon,
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
  to?: Exclude<
    (typeof paths)[keyof typeof paths],
    typeof paths.key | typeof paths.widget | typeof paths.prompt
  >;
  href?: string;
}

interface Group {
  /** Absent for what stands above all groups. */
  title?: string;
  destinations: readonly Destination[];
}

/** In the order of the navigation. A page that isn't here can't be found. */
export const navigation: readonly Group[] = [
  { destinations: [{ label: 'Overview', icon: GaugeIcon, to: paths.dashboard }] },
  {
    title: 'Calls',
    destinations: [
      { label: 'API keys', icon: KeyRoundIcon, to: paths.keys },
      { label: 'Usage', icon: LayoutListIcon, to: paths.usage },
      { label: 'Alerts', icon: BellIcon, to: paths.alerts },
      { label: 'Widgets', icon: MessageCircleIcon, to: paths.widgets },
    ],
  },
  {
    title: 'Build',
    destinations: [
      { label: 'Playground', icon: MessagesSquareIcon, to: paths.playground },
      { label: 'Prompts', icon: FileTextIcon, to: paths.prompts },
    ],
  },
  {
    title: 'Account',
    destinations: [
      { label: 'Billing', icon: ReceiptIcon, to: paths.billing },
      { label: 'Profile', icon: UserIcon, to: paths.profile },
    ],
  },
  {
    title: 'Developers',
    destinations: [
      { label: 'Documentation', icon: BookIcon, href: '/docs' },
      { label: 'API reference', icon: BracesIcon, href: '/docs/api' },
      { label: 'GraphQL playground', icon: WaypointsIcon, href: '/graphql/playground' },
    ],
  },
];

/** All of them, for the command palette. */
export const destinations: readonly Destination[] = navigation.flatMap((group) => group.destinations);

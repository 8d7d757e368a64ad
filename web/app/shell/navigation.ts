import {
  ActivityIcon,
  BellIcon,
  BookIcon,
  BoxIcon,
  BracesIcon,
  ClockIcon,
  CoinsIcon,
  FileTextIcon,
  GaugeIcon,
  KeyRoundIcon,
  LayoutListIcon,
  type LucideIcon,
  MessageCircleIcon,
  MessagesSquareIcon,
  ReceiptIcon,
  RouteIcon,
  ScrollTextIcon,
  ServerIcon,
  TrophyIcon,
  UserIcon,
  UsersIcon,
  WaypointsIcon,
} from 'lucide-react';
import { paths } from '../paths';

/** One entry of the navigation and of the command palette. */
export interface Destination {
  label: string;
  icon: LucideIcon;
  /** A page of this app, or another document. */
  to?: Exclude<
    (typeof paths)[keyof typeof paths],
    typeof paths.key | typeof paths.widget | typeof paths.prompt | typeof paths.node | typeof paths.user
  >;
  href?: string;
}

interface Group {
  /** Absent for entries above all groups. */
  title?: string;
  destinations: readonly Destination[];
}

/** Shown to administrators only. */
const ADMIN: Group = {
  title: 'Admin',
  destinations: [
    { label: 'Nodes', icon: ServerIcon, to: paths.nodes },
    { label: 'Margin', icon: CoinsIcon, to: paths.margin },
    { label: 'Benchmarks', icon: ActivityIcon, to: paths.benchmarks },
    { label: 'Routing', icon: RouteIcon, to: paths.routing },
    { label: 'Leaderboard', icon: TrophyIcon, to: paths.adminLeaderboard },
    { label: 'Jobs', icon: ClockIcon, to: paths.jobs },
    { label: 'Users', icon: UsersIcon, to: paths.users },
    { label: 'Audit log', icon: ScrollTextIcon, to: paths.audit },
  ],
};

/** In the order of the navigation. */
const GROUPS: readonly Group[] = [
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
      { label: 'Models', icon: BoxIcon, to: paths.models },
    ],
  },
  {
    title: 'Account',
    destinations: [
      { label: 'Billing', icon: ReceiptIcon, to: paths.billing },
      { label: 'Profile', icon: UserIcon, to: paths.profile },
    ],
  },
];

const DEVELOPERS: Group = {
  title: 'Developers',
  destinations: [
    { label: 'Documentation', icon: BookIcon, href: '/docs' },
    { label: 'API reference', icon: BracesIcon, href: '/docs/api' },
    { label: 'GraphQL playground', icon: WaypointsIcon, href: '/graphql/playground' },
  ],
};

/** The pages that a user sees. A page that isn't listed can't be found. */
export const navigationFor = (isAdmin: boolean): readonly Group[] => [
  ...GROUPS,
  ...(isAdmin ? [ADMIN] : []),
  DEVELOPERS,
];

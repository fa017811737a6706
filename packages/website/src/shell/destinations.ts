import { type MemberRole, may } from '@leads/core/credential/roles';
import * as texts from '../texts/index.ts';
import {
  IconChartBar,
  IconCode,
  IconCoin,
  IconHistory,
  IconList,
  IconReceipt,
  IconSpeakerphone,
  IconUserCircle,
  IconUsers,
  IconWebhook,
} from './icons.tsx';

const t = texts.common;

/** The pages of the navigation. */
export const destinations = [
  { to: '/overview', label: t.overview, icon: IconChartBar },
  { to: '/leads', label: t.leads, icon: IconList },
  { to: '/campaigns', label: t.campaigns, icon: IconSpeakerphone },
  { to: '/statements', label: t.statements, icon: IconCoin },
  { to: '/payments', label: t.payments, icon: IconReceipt },
  { to: '/members', label: t.members, icon: IconUsers },
  { to: '/integrations', label: t.integrations, icon: IconWebhook, also: ['/webhooks', '/postbacks'] },
  { to: '/developers', label: t.developers, icon: IconCode },
  { to: '/audit', label: t.audit, icon: IconHistory, permission: 'readAudit' },
  { to: '/profile', label: t.profile, icon: IconUserCircle },
] as const;

export const destinationsOf = (role: MemberRole) =>
  destinations.filter((each) => !('permission' in each) || may(role, each.permission));

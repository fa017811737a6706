import type { LeadStatus } from '@leads/core/lead';
import { IconCheck, IconClock, IconCoin, IconTrash } from '../../shell/icons.tsx';

const icons = { OnHold: IconClock, Approved: IconCheck, Paid: IconCoin, Trashed: IconTrash } as const;

/** The symbol of a status in its color, beside the status in words. */
export function StatusIcon({ status }: { status: LeadStatus }) {
  const Icon = icons[status];
  return <Icon size={14} color={`var(--leads-status-${status.toLowerCase()})`} aria-hidden />;
}

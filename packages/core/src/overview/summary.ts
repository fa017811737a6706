import type { StatusCounts } from './overview-store.ts';

export const nothing: StatusCounts = { OnHold: 0, Approved: 0, Paid: 0, Trashed: 0 };

/** Returns counts with their sum and the approve rates. */
export function summaryOf({ OnHold, Approved, Paid, Trashed }: StatusCounts) {
  const total = OnHold + Approved + Paid + Trashed;
  const approved = Approved + Paid;
  return {
    OnHold,
    Approved,
    Paid,
    Trashed,
    total,
    approveRate: total === 0 ? null : approved / total,
    approveRateWithoutTrash: total === Trashed ? null : approved / (total - Trashed),
  };
}

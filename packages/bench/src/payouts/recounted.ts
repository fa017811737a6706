import type { LeadStatus } from '@leads/core/lead/transitions';

/** A total that differs from the recount. Amounts are in units of 0.0001. */
export interface Difference {
  readonly what: string;
  readonly total: string;
  readonly recount: string;
}

/** The state of a lead by its history. */
export interface RecountedLead {
  readonly workspaceId: string;
  readonly campaignId: string;
  readonly userId: string;
  readonly createdMs: number;
  readonly s1: string;
  readonly isErased: boolean;
  status: LeadStatus;
  payout?: RecountedPayout | undefined;
}

/** A payout in a history. */
export interface RecountedPayout {
  readonly amount: string;
  readonly currency: string;
}

/** Parses decimal text with at most 4 decimals. @returns units of 0.0001. */
export function unitsOf(text: string): bigint {
  const [whole = '', decimals = ''] = text.split('.');
  return BigInt(whole + decimals.padEnd(4, '0'));
}

/** Returns units of 0.0001 as decimal text without zeros at its end. */
export function textOfUnits(units: bigint): string {
  const digits = units.toString().padStart(5, '0');
  return `${digits.slice(0, -4)}.${digits.slice(-4)}`.replace(/\.?0+$/, '');
}

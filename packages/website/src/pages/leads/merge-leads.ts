import type { Lead } from '@leads/core/lead';
import type { LeadPage } from '../../api/leads.ts';
import { fieldOf, type SortField } from '@leads/core/lead/sort-fields';
import type { LeadSort } from '../../leads/lead-search.ts';

/** Whether a list is sorted by a time that each listed lead has. Other changes of the order need a new request. */
export const isByTime = (sort: LeadSort): boolean => ['createdAt', 'updatedAt'].includes(fieldOf(sort));

/** Returns the time that a list shows if it has place for one: the one that it is sorted by. */
export function timeOf(sort: LeadSort): 'createdAt' | 'updatedAt' {
  return fieldOf(sort) === 'updatedAt' ? 'updatedAt' : 'createdAt';
}

/** Returns a negative number if `a` comes before `b`. Times are ISO 8601 in UTC and have equal length. */
function compare(a: Lead, b: Lead, sort: LeadSort): number {
  const by = timeOf(sort);
  const isBefore = a[by] === b[by] ? a.id < b.id : a[by] < b[by];
  return isBefore === sort.startsWith('-') ? 1 : -1;
}

/**
 * Merges created and changed leads into the loaded pages, in sort order. A lead that belongs after the loaded pages is
 * dropped, because it arrives with a later page.
 *
 * @returns the pages, where an unchanged page is the same object; and the leads that were not loaded before.
 */
export function mergeLeads(
  pages: readonly LeadPage[],
  changes: readonly Lead[],
  sort: LeadSort,
): { pages: LeadPage[]; added: Lead[] } {
  const pageOf = new Map(pages.flatMap(({ leads }, i) => leads.map(({ id }) => [id, i] as const)));
  const merged = pages.map(({ leads }) => leads);
  const added: Lead[] = [];
  const by = timeOf(sort);
  for (const change of changes) {
    const at = pageOf.get(change.id);
    const known = at === undefined ? undefined : merged[at]?.find(({ id }) => id === change.id);
    if (at !== undefined && known !== undefined) {
      if (known.updatedAt >= change.updatedAt) continue;
      const page = merged[at] ?? [];
      if (known[by] === change[by]) {
        merged[at] = page.map((lead) => (lead === known ? change : lead));
        continue;
      }
      merged[at] = page.filter((lead) => lead !== known);
    } else {
      added.push(change);
    }
    const isLast = (i: number) => i === merged.length - 1 && pages[i]?.cursor === undefined;
    const to = merged.findIndex((leads, i) => {
      const last = leads.at(-1);
      return isLast(i) || (last !== undefined && compare(change, last, sort) < 0);
    });
    if (to === -1) {
      if (known === undefined) added.pop();
      continue;
    }
    merged[to] = [...(merged[to] ?? []), change].toSorted((a, b) => compare(a, b, sort));
  }
  return {
    pages: pages.map((page, i) => {
      const leads = merged[i] ?? [];
      return leads === page.leads ? page : { ...page, leads };
    }),
    added,
  };
}

/** The fields of a listed lead that orders by a value compare. */
const listedFields: Readonly<Partial<Record<SortField, keyof Lead>>> = {
  status: 'status',
  country: 'country',
  campaign: 'campaignId',
  user: 'userId',
};

/** Returns whether a changed lead keeps its place in a list that is sorted by a value of listed leads. */
export function keepsPlace(lead: Lead, pages: readonly LeadPage[], sort: LeadSort): boolean {
  const field = listedFields[fieldOf(sort)];
  const known = pages.flatMap(({ leads }) => leads).find(({ id }) => id === lead.id);
  return known !== undefined && field !== undefined && known[field] === lead[field];
}

/** Returns whether a lead comes before all loaded leads. */
export function isAbove(lead: Lead, pages: readonly LeadPage[], sort: LeadSort): boolean {
  const first = pages.find(({ leads }) => leads.length > 0)?.leads[0];
  return first !== undefined && compare(lead, first, sort) < 0;
}

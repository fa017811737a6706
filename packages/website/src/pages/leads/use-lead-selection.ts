import type { Lead } from '@leads/core/lead';
import { useState } from 'react';
import type { LeadFilters } from '../../leads/lead-search.ts';

const nothing: ReadonlySet<string> = new Set();

export type LeadSelection = ReturnType<typeof useLeadSelection>;

/**
 * The selected leads of the list. New filters clear the selection at once, before the new list arrives. Leads that the
 * user selects in the old list meanwhile stay selected if the new list contains them.
 *
 * @param places the indexes of the leads by their ids.
 * @param canSelect whether the role of the user can select leads.
 */
export function useLeadSelection({
  leads,
  places,
  filters,
  canSelect,
}: {
  leads: readonly Lead[];
  places: ReadonlyMap<string, number>;
  filters: LeadFilters;
  canSelect: boolean;
}) {
  const [selected, setSelected] = useState(nothing);
  /** Whether the selection is all leads that match, also those that are not loaded. */
  const [isAllChosen, setAll] = useState(false);
  /** The first lead of a range selection. */
  const [anchorId, setAnchorId] = useState<string>();

  // A lead that leaves the list is not selected any more.
  const [listed, setListed] = useState(leads);
  if (listed !== leads) {
    setListed(leads);
    const kept = [...selected].filter((id) => places.has(id));
    if (kept.length < selected.size) setSelected(new Set(kept));
  }
  const [forFilters, setForFilters] = useState(filters);
  if (forFilters !== filters) {
    setForFilters(filters);
    setSelected(nothing);
    setAll(false);
    setAnchorId(undefined);
  }

  const chosen = leads.filter(({ id }) => selected.has(id));
  /** Selects a lead or removes it from the selection. A range adds all leads since the lead that was selected last. */
  const select = (index: number, isRange: boolean, startId = anchorId) => {
    const lead = leads[index];
    if (lead === undefined || !canSelect) return;
    setAll(false);
    const from = isRange && startId !== undefined ? places.get(startId) : undefined;
    const next = new Set(selected);
    if (from === undefined) {
      if (!next.delete(lead.id)) next.add(lead.id);
      setAnchorId(lead.id);
    } else {
      for (let i = Math.min(from, index); i <= Math.max(from, index); i++) {
        const each = leads[i];
        if (each !== undefined) next.add(each.id);
      }
    }
    setSelected(next);
  };
  return {
    /** The selected leads in the order of the list. */
    chosen,
    isSelected: (id: string) => selected.has(id),
    /** Whether the selection is all leads that match the filters, also those that are not loaded. */
    isAll: isAllChosen && chosen.length > 0,
    isAllLoaded: chosen.length > 0 && chosen.length === leads.length,
    select,
    /** Selects the range that ends at a lead. Without an earlier selection, it starts at the given lead. */
    selectRangeTo: (index: number, startId: string | undefined) => {
      const first = anchorId ?? startId;
      setAnchorId(first);
      select(index, true, first);
    },
    selectAll: () => setAll(true),
    selectLoaded: () => {
      setAll(false);
      setSelected(new Set(leads.map(({ id }) => id)));
    },
    clear: () => {
      setAll(false);
      setSelected(nothing);
    },
  };
}

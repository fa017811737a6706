import type { Lead } from '@leads/core/lead';
import { useState } from 'react';

/**
 * The active lead of the list, which the keys apply to. If it leaves the list, the next lead becomes the active one.
 * Other filters make the first lead the active one, because they scroll to it. A lead that is opened becomes the active one,
 * so that a key after its panel is closed does not change another lead.
 *
 * @param places the indexes of the leads by their ids.
 * @param shownKey identifies the filters of the shown leads.
 * @param openId the lead in the panel.
 * @returns the active lead. Its index is -1 if there is none.
 */
export function useActiveLead(
  leads: readonly Lead[],
  places: ReadonlyMap<string, number>,
  shownKey: string,
  openId: string | undefined,
) {
  const [activeId, setActiveId] = useState<string>();
  const [listed, setListed] = useState({ leads, shownKey });
  if (listed.leads !== leads) {
    setListed({ leads, shownKey });
    if (listed.shownKey !== shownKey) {
      setActiveId(activeId === undefined ? undefined : leads[0]?.id);
    } else if (activeId !== undefined && !places.has(activeId)) {
      const from = listed.leads.findIndex(({ id }) => id === activeId);
      const next = from === -1 ? undefined : listed.leads.slice(from).find(({ id }) => places.has(id));
      setActiveId(next?.id ?? (from === -1 ? undefined : leads.at(-1)?.id));
    }
  }
  const [followed, setFollowed] = useState<string>();
  if (followed !== openId) {
    setFollowed(openId);
    if (openId !== undefined && places.has(openId)) setActiveId(openId);
  }
  const activeIndex = activeId === undefined ? -1 : (places.get(activeId) ?? -1);
  return { activeId, activeIndex, setActiveId };
}

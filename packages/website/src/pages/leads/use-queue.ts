import type { Lead } from '@leads/core/lead';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { leadQuery } from '../../api/leads.ts';

/**
 * The place of the open lead in the list, and the moves to its neighbors. Loads the next lead early.
 *
 * @param queue the leads of the list, in its order.
 * @param onMove opens another lead of the queue.
 */
export function useQueue(queue: readonly Lead[], id: string, onMove: (id: string) => void) {
  const queryClient = useQueryClient();
  const { at, previous, next } = usePlace(queue, id);
  const nextId = next?.id;
  // The lead that the last key has requested. The page shows it some milliseconds later, and the next key may be earlier.
  const requested = useRef(id);
  useLayoutEffect(() => {
    requested.current = id;
  }, [id]);
  const move = (to: Lead | undefined) => {
    if (to === undefined) return;
    requested.current = to.id;
    onMove(to.id);
  };
  /** The last lead of the list, after a change of its status. */
  const [ended, setEnded] = useState<string>();
  useEffect(() => {
    if (nextId !== undefined) void queryClient.prefetchQuery({ ...leadQuery(nextId), staleTime: 5_000 });
  }, [queryClient, nextId]);
  return {
    /** The index of the open lead, -1 if it is not in the queue. */
    at,
    previous,
    next,
    /** Whether the status of the last lead was changed, so that no lead follows. */
    isEnd: ended === id && next === undefined,
    move,
    /** Opens the next lead after a change of the status. */
    moveOn: () => (next === undefined ? setEnded(id) : move(next)),
    /** Opens the lead before or after the one that the last key has requested. */
    moveBy: (step: 1 | -1) => {
      const from = queue.findIndex((lead) => lead.id === requested.current);
      if (requested.current === id || from === -1) move(step === 1 ? next : previous);
      else move(queue[from + step]);
    },
    /** Returns whether a lead is the one that the last key has requested. */
    isRequested: (lead: Lead) => requested.current === lead.id,
  };
}

/** Returns the neighbors of a lead in the queue. A lead that has left the queue keeps the place that it had. */
function usePlace(queue: readonly Lead[], id: string) {
  const at = queue.findIndex((lead) => lead.id === id);
  const [known, setKnown] = useState({ id, at });
  if (at !== -1 && (known.id !== id || known.at !== at)) setKnown({ id, at });
  const place = at === -1 && known.id === id ? known.at : at;
  return {
    at,
    previous: queue[place - 1],
    next: at === -1 ? queue[Math.max(place, 0)] : queue[at + 1],
  };
}

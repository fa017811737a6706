import type { LeadPatch } from '@leads/core/lead';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { editLead, leadHistoryQuery, leadQuery } from '../../api/leads.ts';
import { showFailure } from '../../shell/failure-notice.tsx';
import { leads as t } from '../../texts/leads.ts';

/**
 * Saves changes of a lead, one after the other. Another user's change of other fields is no conflict. The form shows the
 * error of the last change. A notification shows that of an earlier change, and all errors if the panel shows another lead.
 */
export function useLeadEdit(id: string, onSaved?: (patch: LeadPatch) => void) {
  const queryClient = useQueryClient();
  const isShown = useRef(true);
  useEffect(() => {
    isShown.current = true;
    return () => void (isShown.current = false);
  }, []);
  const last = useRef<LeadPatch>(undefined);
  const save = useMutation({
    scope: { id: `lead ${id}` },
    mutationFn: (patch: LeadPatch) => editLead({ id, etag: '*', patch }),
    onMutate: (patch) => void (last.current = patch),
    onSuccess(version, patch) {
      queryClient.setQueryData(leadQuery(id).queryKey, version);
      void queryClient.invalidateQueries({ queryKey: leadHistoryQuery(id).queryKey });
      onSaved?.(patch);
    },
    onError(error, patch) {
      if (isShown.current && last.current === patch) return;
      const name = queryClient.getQueryData(leadQuery(id).queryKey)?.lead.name ?? id;
      showFailure(error, () => save.mutate(patch), { text: t.notSaved(name, error.message) });
    },
  });
  return save;
}

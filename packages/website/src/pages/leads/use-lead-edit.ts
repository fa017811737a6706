import type { LeadPatch } from '@leads/core/lead';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { editLead, leadHistoryQuery, leadQuery } from '../../api/leads.ts';
import { showFailure } from '../../shell/failure-notice.tsx';
import { leads as t } from '../../texts/leads.ts';

/**
 * Saves changes of a lead. Another user's change of other fields is no conflict. The form shows its errors. If the panel
 * shows another lead by then, a notification does.
 */
export function useLeadEdit(id: string, onSaved: (patch: LeadPatch) => void) {
  const queryClient = useQueryClient();
  const isShown = useRef(true);
  useEffect(() => {
    isShown.current = true;
    return () => void (isShown.current = false);
  }, []);
  const save = useMutation({
    mutationFn: (patch: LeadPatch) => editLead({ id, etag: '*', patch }),
    onSuccess(version, patch) {
      queryClient.setQueryData(leadQuery(id).queryKey, version);
      void queryClient.invalidateQueries({ queryKey: leadHistoryQuery(id).queryKey });
      onSaved(patch);
    },
    onError(error, patch) {
      if (isShown.current) return;
      const name = queryClient.getQueryData(leadQuery(id).queryKey)?.lead.name ?? id;
      showFailure(error, () => save.mutate(patch), { text: t.notSaved(name, error.message) });
    },
  });
  return save;
}

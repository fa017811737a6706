import type { LeadPatch } from '@leads/core/lead';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { editLead, leadHistoryQuery, leadQuery } from '../../api/leads.ts';

/** Saves changes of a lead. Another user's change of other fields is no conflict. */
export function useLeadEdit(id: string, onSaved: (patch: LeadPatch) => void) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (patch: LeadPatch) => editLead({ id, etag: '*', patch }),
    onSuccess(version, patch) {
      queryClient.setQueryData(leadQuery(id).queryKey, version);
      void queryClient.invalidateQueries({ queryKey: leadHistoryQuery(id).queryKey });
      onSaved(patch);
    },
  });
}

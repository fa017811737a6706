import { useMutation, useQueryClient } from '@tanstack/react-query';
import { account, meQuery } from '../../api/account.ts';
import { ApiError } from '../../api/api-error.ts';

/**
 * Calls an account endpoint. Request and response contain secrets, so neither is cached. An error may mean that the
 * session has ended, so the website checks the session.
 */
export function useAccountCall<Answer = unknown, Body extends object = object>(
  path: string,
  { onSuccess, onError }: { onSuccess?: (answer: Answer) => unknown; onError?: (error: Error) => void } = {},
) {
  const queryClient = useQueryClient();
  return useMutation<Answer, Error, Body>({
    mutationFn: (body) => account<Answer>(path, body),
    gcTime: 0,
    ...(onSuccess !== undefined && { onSuccess }),
    onError(error) {
      onError?.(error);
      if (error instanceof ApiError && error.status === 401) {
        void queryClient.invalidateQueries({ queryKey: meQuery.queryKey });
      }
    },
  });
}

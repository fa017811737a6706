import { useMutation } from '@tanstack/react-query';
import { account } from '../../api/account.ts';

/** Calls an account endpoint. Request and response contain secrets, so neither is cached. */
export function useAccountCall<Answer = unknown, Body extends object = object>(
  path: string,
  options: { onSuccess?: (answer: Answer) => unknown; onError?: (error: Error) => void } = {},
) {
  return useMutation<Answer, Error, Body>({
    mutationFn: (body) => account<Answer>(path, body),
    gcTime: 0,
    ...options,
  });
}

import type { SessionView } from '@leads/core/account';
import { queryOptions } from '@tanstack/react-query';
import { ApiError } from './api-error.ts';
import { call } from './client.ts';

export const sessionsQuery = queryOptions({
  queryKey: ['sessions'],
  queryFn: ({ signal }) => call<SessionView[]>('/console/sessions', { signal }),
});

/** Ends a session. It may have ended since it was listed. */
export async function endSession(id: string): Promise<void> {
  try {
    await call(`/console/sessions/${id}`, { method: 'DELETE' });
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 404)) throw error;
  }
}

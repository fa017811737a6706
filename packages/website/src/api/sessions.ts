import type { SessionView } from '@leads/core/account';
import { queryOptions } from '@tanstack/react-query';
import { call } from './client.ts';

export const sessionsQuery = queryOptions({
  queryKey: ['sessions'],
  queryFn: ({ signal }) => call<SessionView[]>('/console/sessions', { signal }),
});

export function endSession(id: string): Promise<unknown> {
  return call(`/console/sessions/${id}`, { method: 'DELETE' });
}

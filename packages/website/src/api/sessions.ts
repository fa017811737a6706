import { queryOptions } from '@tanstack/react-query';
import { call } from './client.ts';

/** A browser in which the user is signed in. */
export interface BrowserSession {
  readonly id: string;
  /** Whether it is the one that asks. */
  readonly current: boolean;
  readonly createdAt: string;
  /** When it was last seen, to the day. */
  readonly updatedAt: string;
  readonly expiresAt: string;
  readonly ipAddress?: string;
  readonly userAgent?: string;
}

export const sessionsQuery = queryOptions({
  queryKey: ['sessions'],
  queryFn: ({ signal }) => call<BrowserSession[]>('/console/sessions', { signal }),
});

export function endSession(id: string): Promise<unknown> {
  return call(`/console/sessions/${id}`, { method: 'DELETE' });
}

import type { Me } from '@leads/core/account';
import type { FirstSteps } from '@leads/core/workspace';
import { queryOptions } from '@tanstack/react-query';
import { call } from './client.ts';
import { firstStepsRequest } from './first-requests.ts';

export const firstStepsQuery = queryOptions({
  queryKey: ['first-steps'],
  queryFn: ({ signal }) => call<FirstSteps>(firstStepsRequest.path, { signal }),
  // A lead of a landing page or a colleague's change ticks a step without a reload.
  refetchInterval: ({ state: { data } }) => data !== undefined && isOpen(data) && 3_000,
});

/** Whether the checklist is for this user: the workspace is new, and a step is left. */
export function isOpen({ isNew, ...steps }: FirstSteps): boolean {
  return isNew && Object.values(steps).includes(false);
}

/** Returns the name of the entry in the browser's storage that hides the checklist for the user. */
export function hiddenKeyOf({ user, workspace }: Me): string {
  return `first-steps-hidden ${workspace?.id ?? ''} ${user.id}`;
}

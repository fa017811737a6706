import { FirstSteps, getFirstSteps } from '@leads/core/workspace';
import type { Server } from '@leads/http/server/create-server';
import { errorResponses, sessionErrors } from '@leads/http/server/errors';
import type { CrmContext } from '../../../context.ts';

/** Registers the route that returns the first steps of the user in the workspace, and whether each is done. */
export function getFirstStepsRoute(app: Server, { workspaces }: CrmContext): void {
  app.get(
    '/first-steps',
    {
      config: { permission: 'member' },
      schema: { response: { 200: FirstSteps, ...errorResponses(...sessionErrors) } },
    },
    ({ principal }) => getFirstSteps(workspaces, principal),
  );
}

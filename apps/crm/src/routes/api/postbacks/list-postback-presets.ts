import { PostbackPresetView, postbackPresets } from '@leads/core/delivery';
import type { Server } from '@leads/http/server/create-server';
import { commonErrors, errorResponses } from '@leads/http/server/errors';
import { Type } from 'typebox';

/** Registers the route that lists the presets of postbacks. */
export function listPostbackPresetsRoute(app: Server): void {
  app.get(
    '/postbacks/presets',
    {
      config: { permission: 'member', scope: 'admin' },
      schema: {
        operationId: 'listPostbackPresets',
        tags: ['postbacks'],
        summary: 'List presets for trackers',
        description: 'Templates with the documented parameters of the trackers.',

        querystring: Type.Object({}, { additionalProperties: false }),
        response: {
          200: Type.Array(PostbackPresetView, { description: 'All presets.' }),
          ...errorResponses('invalid_input', ...commonErrors),
        },
      },
    },
    () =>
      postbackPresets.map(({ id, name, url, statuses, documentation }) => ({
        id,
        name,
        url,
        statuses: [...statuses],
        documentation,
      })),
  );
}

import type { Server } from '@leads/http/server/create-server';
import { errorResponses } from '@leads/http/server/errors';
import { Type } from 'typebox';
import { describeEvents } from './describe-events.ts';

/** Registers `/asyncapi.json`, the AsyncAPI document of the events. */
export function asyncApiRoute(app: Server): void {
  app.get(
    '/asyncapi.json',
    {
      config: { permission: 'public' },
      schema: { hide: true, response: { 200: Type.Unknown(), ...errorResponses('unexpected') } },
      logLevel: 'warn',
    },
    async () => describeEvents(),
  );
}

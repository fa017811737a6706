import { LeadsError } from '@leads/core/errors';
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { createLogger } from '../service/log.ts';
import { createServer, registerRoutes, type Server } from './create-server.ts';
import { requireApiKey, requireApiKeyAndToken, type TokenGuarding } from './guards.ts';
import { type Permission, requireRoutePermission } from './permission.ts';

const createApp = () =>
  createServer({ log: createLogger({ service: 'crm', level: 'silent' }), trustProxy: '' });
const response = { 200: Type.Object({}) };
const start = (register: (app: Server) => void) =>
  registerRoutes(createApp(), async (app) => {
    await app.register(async (scope) => register(scope));
  });

describe('registerRoutes', () => {
  test('registers a route that declares its permission and its responses', async () => {
    const register = (app: Server) =>
      app.get('/x', { config: { permission: 'public' }, schema: { response } }, async () => ({}));
    await expect(start(register)).resolves.toBeUndefined();
  });

  test('rejects a route that declares no permission', async () => {
    await expect(start((app) => app.get('/x', { schema: { response } }, async () => ({})))).rejects.toThrow(
      'GET /x declares no permission',
    );
  });

  test('rejects a route that declares no responses', async () => {
    const register = (app: Server) => app.post('/x', { config: { permission: 'public' } }, async () => ({}));
    await expect(start(register)).rejects.toThrow('POST /x declares no responses');
  });
});

test.each([requireApiKey, requireApiKeyAndToken])(
  '%o rejects a route that declares no scope',
  async (guard) => {
    const register = (app: Server) => {
      // The guard calls its dependencies for requests only.
      guard(app, {} as TokenGuarding);
      app.get('/x', { config: { permission: 'member' }, schema: { response } }, async () => ({}));
    };
    await expect(start(register)).rejects.toThrow('GET /x declares no scope');
  },
);

test('requireRoutePermission admits the roles of the permission only', () => {
  const admits = (permission: Permission) =>
    (['publisher', 'manager', 'owner'] as const).filter((role) => {
      try {
        requireRoutePermission({ permission }, { role, scope: 'full' });
        return true;
      } catch (error) {
        if (error instanceof LeadsError && error.code === 'forbidden') return false;
        throw error;
      }
    });
  expect(admits('member')).toEqual(['publisher', 'manager', 'owner']);
  expect(admits('manageEndpoints')).toEqual(['manager', 'owner']);
  expect(admits('readAudit')).toEqual(['owner']);
});

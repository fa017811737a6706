import { fillPath } from '@leads/test-kit/openapi-document';
import type { RunningService } from '@leads/test-kit/running-service';

/** A route that the pages of the website call. */
export interface WebsiteRoute {
  readonly method: string;
  readonly path: string;
  /** The permission that the route declares. */
  readonly permission: string | undefined;
}

/** The routes that need no session. Each validates its own input. */
export const openRoutes: ReadonlySet<string> = new Set([
  'GET /api/console/features',
  'GET /api/console/invitations/{id}',
  'GET /api/console/integration/{token}',
  'POST /api/console/client-errors',
]);

/**
 * Returns every method of every route that the pages of the website call. Reads them from the registered routes,
 * because no OpenAPI document describes them.
 */
export async function websiteRoutesOf(service: RunningService): Promise<WebsiteRoute[]> {
  const found: WebsiteRoute[] = [];
  for (const path of new Set(service.routes.map((route) => route.path))) {
    if (!path.startsWith('/api/console/') && !path.startsWith('/api/auth/')) continue;
    const { headers } = await service.send({ method: 'TRACE', path: fillPath(path) });
    for (const method of (headers.allow ?? '').split(', ')) {
      if (method === 'HEAD') continue;
      const route = service.routes.find((each) => each.method === method && each.path === path);
      found.push({ method, path, permission: route?.permission });
    }
  }
  return found;
}

/** Returns the website routes that need a session. */
export async function signedInRoutesOf(service: RunningService): Promise<WebsiteRoute[]> {
  const routes = await websiteRoutesOf(service);
  return routes.filter(
    ({ method, path }) => path.startsWith('/api/console/') && !openRoutes.has(`${method} ${path}`),
  );
}

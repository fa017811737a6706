import { fillPath } from '@leads/test-kit/openapi-document';
import type { RunningService } from '@leads/test-kit/running-service';

export interface WebsiteRoute {
  readonly method: string;
  readonly path: string;
  /** As the route declares it. */
  readonly permission: string | undefined;
}

/** What a visitor may ask who is not signed in; each looks for itself at what it is given. */
export const openRoutes: ReadonlySet<string> = new Set([
  'GET /api/console/features',
  'GET /api/console/invitations/{id}',
  'GET /api/console/integration/{token}',
  'POST /api/console/client-errors',
]);

/**
 * Every route that the website's pages call, once for each of its methods, as it is registered: no document describes
 * them.
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

/** Of them, those for who is signed in. */
export async function signedInRoutesOf(service: RunningService): Promise<WebsiteRoute[]> {
  const routes = await websiteRoutesOf(service);
  return routes.filter(
    ({ method, path }) => path.startsWith('/api/console/') && !openRoutes.has(`${method} ${path}`),
  );
}

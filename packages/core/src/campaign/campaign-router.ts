import { AnswerCache, type CacheUse, type SnapshotAnswer } from '../answer-cache.ts';
import { type Batched, Batcher } from '../background/batcher.ts';
import { type DatabaseHealth, queryDatabase } from '../database-health.ts';
import type { Invalidation } from '../invalidation.ts';
import type { IntakeRoute, IntakeRouting, RouteQuery } from './intake-routing.ts';
import { fitsLandingPage, type LandingPageRegistrar } from './landing-page-registrar.ts';

/** The sources of routes while the database is unavailable. */
export interface StaleRoutes {
  readonly database: DatabaseHealth;
  /** The snapshot's routes. */
  readonly snapshot?:
    | {
        findRoute(
          workspaceId: string,
          landingPage: string | undefined,
          keyCampaignId: string | undefined,
        ): Promise<SnapshotAnswer<IntakeRoute> | undefined>;
      }
    | undefined;
}

/** The most statements that look up routes at a time. They leave connections to the statements that insert leads. */
const maxLookups = 2;

/**
 * Routes leads of the intake to campaigns, from a cache. A new mapping takes effect within 10 s. An unknown landing page
 * is registered outside of the request.
 *
 * Anyone who reads a browser key can send leads with any number of unknown landing pages. So concurrent lookups share
 * statements, in which workspaces take turns, and one workspace gets at most half of the queue and of the cache.
 */
export class CampaignRouter {
  readonly #lookups: Batcher<RouteQuery, IntakeRoute>;
  readonly #landingPages: Pick<LandingPageRegistrar, 'register'>;
  readonly #staleRoutes: StaleRoutes | undefined;
  readonly #routes: AnswerCache<IntakeRoute>;

  /** @param staleRoutes Without it, stale routes are never served. */
  constructor(
    routing: IntakeRouting,
    landingPages: Pick<LandingPageRegistrar, 'register'>,
    staleRoutes?: StaleRoutes,
  ) {
    this.#lookups = new Batcher(
      {
        workspaceOf: ({ workspaceId }) => workspaceId,
        charactersOf: ({ landingPage }) => landingPage?.length ?? 0,
        process: (batch) => lookUp(routing, batch, staleRoutes?.database),
      },
      { bounds: { inFlight: maxLookups, ...(staleRoutes && { waitMs: staleRoutes.database.timeoutMs }) } },
    );
    this.#landingPages = landingPages;
    this.#staleRoutes = staleRoutes;
    this.#routes = new AnswerCache(
      staleRoutes && { database: staleRoutes.database, isKept: () => true },
      (_route, key) => workspaceOfKey(key),
    );
  }

  /**
   * Finds a route like {@link IntakeRouting.findRoutes}. A cached route is returned synchronously.
   *
   * @param apiKeyId the API key of the lead, whose new landing pages are capped.
   * @throws LeadsError `unavailable` if too many lookups of the workspace wait, or if Postgres does not answer.
   */
  find(
    workspaceId: string,
    landingPage: string | undefined,
    keyCampaignId: string | undefined,
    apiKeyId?: string,
  ): IntakeRoute | Promise<IntakeRoute> {
    // A name that no landing page may have would only fill the cache.
    const name = landingPage !== undefined && fitsLandingPage(landingPage) ? landingPage : undefined;
    return this.#routes.get(
      `${workspaceId}/${keyCampaignId ?? ''}/${name ?? ''}`,
      async () => {
        const route = await this.#lookups.take({ workspaceId, landingPage: name, keyCampaignId });
        if (name !== undefined && !route.landingPageKnown) {
          this.#landingPages.register(workspaceId, name, apiKeyId);
        }
        return route;
      },
      async () => this.#staleRoutes?.snapshot?.findRoute(workspaceId, name, keyCampaignId),
    );
  }

  /** Removes the routes that a change outdates. */
  invalidate(change: Invalidation): void {
    if (change.kind !== 'routes') return;
    this.#routes.invalidate((_route, key) => key.startsWith(`${change.workspaceId}/`));
  }

  get cacheUse(): CacheUse {
    return this.#routes.use;
  }
}

/** Looks up the routes of a batch in one statement. */
async function lookUp(
  routing: IntakeRouting,
  batch: readonly Batched<RouteQuery, IntakeRoute>[],
  database: DatabaseHealth | undefined,
): Promise<void> {
  const queries = batch.map(({ item }) => item);
  const routes = await queryDatabase(database, () => routing.findRoutes(queries));
  for (const [at, { resolve, reject }] of batch.entries()) {
    const route = routes[at];
    if (route === undefined) reject(new Error('The workspace has no default campaign'));
    else resolve(route);
  }
}

/** Returns the workspace of a key of the cache. */
function workspaceOfKey(key: string): string {
  return key.slice(0, key.indexOf('/'));
}

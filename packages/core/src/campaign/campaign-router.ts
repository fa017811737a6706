import { AnswerCache, type CacheUse, type SnapshotAnswer } from '../answer-cache.ts';
import type { DatabaseHealth } from '../database-health.ts';
import type { Invalidation } from '../invalidation.ts';
import type { IntakeRoute, IntakeRouting } from './intake-routing.ts';
import { fitsLandingPage, type LandingPageRegistrar } from './landing-page-registrar.ts';

/** The sources of routes while the database is unavailable. */
export interface StaleRoutes {
  readonly database: DatabaseHealth;
  /** The snapshot's routes, by the parameters of {@link IntakeRouting.findRoute}. */
  readonly snapshot?:
    | {
        findRoute(
          ...parameters: Parameters<IntakeRouting['findRoute']>
        ): Promise<SnapshotAnswer<IntakeRoute> | undefined>;
      }
    | undefined;
}

/**
 * Routes leads of the intake to campaigns, from a cache. A new mapping takes effect within 10 s. An unknown landing page
 * is registered outside of the request.
 */
export class CampaignRouter {
  readonly #routing: IntakeRouting;
  readonly #landingPages: Pick<LandingPageRegistrar, 'register'>;
  readonly #staleRoutes: StaleRoutes | undefined;
  readonly #routes: AnswerCache<IntakeRoute>;

  /** @param staleRoutes Without it, stale routes are never served. */
  constructor(
    routing: IntakeRouting,
    landingPages: Pick<LandingPageRegistrar, 'register'>,
    staleRoutes?: StaleRoutes,
  ) {
    this.#routing = routing;
    this.#landingPages = landingPages;
    this.#staleRoutes = staleRoutes;
    this.#routes = new AnswerCache(staleRoutes && { database: staleRoutes.database, isKept: () => true });
  }

  /**
   * Finds a route like {@link IntakeRouting.findRoute}. A cached route is returned synchronously.
   *
   * @param apiKeyId the API key of the lead, whose new landing pages are capped.
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
        const route = await this.#routing.findRoute(workspaceId, name, keyCampaignId);
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

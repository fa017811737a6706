import { AnswerCache, type CacheUse, type Recalled } from '../answer-cache.ts';
import type { DatabaseHealth } from '../database-health.ts';
import type { Invalidation } from '../invalidation.ts';
import type { CampaignStore, IntakeRoute } from './campaign-store.ts';
import { fitsLandingPage, type LandingPageRegistrar } from './landing-page-registrar.ts';

/** How routes that are known are taken for longer while the store is away. */
export interface StaleRoutes {
  readonly store: DatabaseHealth;
  /** Knows routes that were kept elsewhere; asked as {@link CampaignStore.routeIntakeLead}. */
  readonly memory?:
    | {
        recallRoute(
          ...asked: Parameters<CampaignStore['routeIntakeLead']>
        ): Promise<Recalled<IntakeRoute> | undefined>;
      }
    | undefined;
}

/**
 * Where leads of the intake go, from memory: a landing page that is mapped anew is followed within 10 s. One that is
 * not known yet is registered, which no request waits for.
 */
export class CampaignRouter {
  readonly #campaigns: Pick<CampaignStore, 'routeIntakeLead'>;
  readonly #landingPages: Pick<LandingPageRegistrar, 'register'>;
  readonly #staleRoutes: StaleRoutes | undefined;
  readonly #routes: AnswerCache<IntakeRoute>;

  /** @param staleRoutes without it no route is taken that the store was not asked about some seconds ago. */
  constructor(
    campaigns: Pick<CampaignStore, 'routeIntakeLead'>,
    landingPages: Pick<LandingPageRegistrar, 'register'>,
    staleRoutes?: StaleRoutes,
  ) {
    this.#campaigns = campaigns;
    this.#landingPages = landingPages;
    this.#staleRoutes = staleRoutes;
    this.#routes = new AnswerCache(staleRoutes && { store: staleRoutes.store, isKept: () => true });
  }

  /** As {@link CampaignStore.routeIntakeLead}; at once where it is known. */
  find(
    workspaceId: string,
    landingPage: string | undefined,
    keyCampaignId: string | undefined,
  ): IntakeRoute | Promise<IntakeRoute> {
    // A name that no landing page can have would only take memory.
    const name = landingPage !== undefined && fitsLandingPage(landingPage) ? landingPage : undefined;
    return this.#routes.get(
      `${workspaceId}/${keyCampaignId ?? ''}/${name ?? ''}`,
      async () => {
        const route = await this.#campaigns.routeIntakeLead(workspaceId, name, keyCampaignId);
        if (name !== undefined && !route.landingPageKnown) this.#landingPages.register(workspaceId, name);
        return route;
      },
      async () => this.#staleRoutes?.memory?.recallRoute(workspaceId, name, keyCampaignId),
    );
  }

  /** Forgets what is not so any more: it is asked for anew. */
  forget(change: Invalidation): void {
    if (change.kind !== 'routes') return;
    this.#routes.forget((_route, key) => key.startsWith(`${change.workspaceId}/`));
  }

  get cacheUse(): CacheUse {
    return this.#routes.use;
  }
}

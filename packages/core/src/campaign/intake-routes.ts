import { AnswerCache, type CacheUse } from '../answer-cache.ts';
import type { CampaignStore, IntakeRoute } from './campaign-store.ts';
import { fitsLandingPage, type LandingPageRegistrar } from './landing-page-registrar.ts';

/**
 * Where leads of the intake go, from memory: a landing page that is mapped anew is followed within 10 s. One that is
 * not known yet is registered, which no request waits for.
 */
export class IntakeRoutes {
  readonly #campaigns: Pick<CampaignStore, 'routeIntakeLead'>;
  readonly #landingPages: Pick<LandingPageRegistrar, 'register'>;
  readonly #routes = new AnswerCache<IntakeRoute>();

  constructor(
    campaigns: Pick<CampaignStore, 'routeIntakeLead'>,
    landingPages: Pick<LandingPageRegistrar, 'register'>,
  ) {
    this.#campaigns = campaigns;
    this.#landingPages = landingPages;
  }

  /** As {@link CampaignStore.routeIntakeLead}; at once where it is known. */
  find(
    workspaceId: string,
    landingPage: string | undefined,
    keyCampaignId: string | undefined,
  ): IntakeRoute | Promise<IntakeRoute> {
    // A name that no landing page can have would only take memory.
    const name = landingPage !== undefined && fitsLandingPage(landingPage) ? landingPage : undefined;
    return this.#routes.get(`${workspaceId}/${keyCampaignId ?? ''}/${name ?? ''}`, async () => {
      const route = await this.#campaigns.routeIntakeLead(workspaceId, name, keyCampaignId);
      if (name !== undefined && !route.landingPageKnown) this.#landingPages.register(workspaceId, name);
      return route;
    });
  }

  get cacheUse(): CacheUse {
    return this.#routes.use;
  }
}

import { AnswerCache, type CacheUse } from '../answer-cache.ts';
import { LeadsError } from '../errors.ts';
import type { Invalidation } from '../invalidation.ts';
import type { Campaign, CampaignStore } from './campaign-store.ts';

/**
 * Finds active campaigns by their codes, from a cache. A change of a campaign takes effect within 10 s, and at once on the
 * instance that makes it. Only active campaigns are cached, so a new or resumed campaign takes leads at once.
 */
export class CampaignCodes {
  readonly #campaigns: Pick<CampaignStore, 'findByCode'>;
  readonly #cache = new AnswerCache<Campaign>();

  constructor(campaigns: Pick<CampaignStore, 'findByCode'>) {
    this.#campaigns = campaigns;
  }

  /** Returns the campaign of a workspace; undefined if it does not exist, is paused or is archived. */
  async findActive(workspaceId: string, code: string): Promise<Campaign | undefined> {
    try {
      return await this.#cache.get(`${workspaceId}/${code}`, async () => {
        const campaign = await this.#campaigns.findByCode(workspaceId, code);
        // Errors are not cached.
        if (campaign?.status !== 'active') throw new LeadsError('not_found');
        return campaign;
      });
    } catch (error) {
      if (error instanceof LeadsError && error.code === 'not_found') return undefined;
      throw error;
    }
  }

  /** Removes the campaigns that a change outdates. */
  invalidate(change: Invalidation): void {
    if (change.kind !== 'routes') return;
    this.#cache.invalidate(({ workspaceId }) => workspaceId === change.workspaceId);
  }

  get cacheUse(): CacheUse {
    return this.#cache.use;
  }
}

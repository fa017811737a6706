import type { Principal } from '../credential/principal.ts';
import { LeadsError } from '../errors.ts';
import { visibleTo } from '../lead/lead-scope.ts';
import { pageLimit } from '../paging.ts';
import { uuidPattern } from '../uuid.ts';
import type { LandingPageQuery, LandingPageView } from './campaign.schema.ts';
import type { CampaignStore } from './campaign-store.ts';
import type { LandingPageStore } from './landing-page-store.ts';
import { toLandingPageViews } from './landing-page.ts';

/**
 * Lists one page of the landing pages of the principal's workspace, sorted by name. A publisher gets its own only: those
 * that sent its leads, and those that its keys registered.
 *
 * @returns the page, and the cursor of the next page if there is one.
 * @throws LeadsError `invalid_cursor` for a malformed cursor, and for a cursor of another workspace.
 */
export async function listLandingPages(
  {
    campaigns,
    landingPages,
  }: { campaigns: Pick<CampaignStore, 'findByCode'>; landingPages: LandingPageStore },
  principal: Principal,
  { mapped, campaignCode, pending, dismissed, limit: limitText, cursor }: LandingPageQuery,
): Promise<{ landingPages: LandingPageView[]; nextCursor?: string }> {
  if (pending !== undefined && dismissed !== undefined) {
    throw new LeadsError('invalid_input', {
      fields: [{ at: 'query', path: 'dismissed', reason: 'must not be given together with pending' }],
    });
  }
  const { workspaceId } = principal;
  const limit = limitText === undefined ? pageLimit.default : Number(limitText);
  const after = cursor === undefined ? undefined : await findPosition(landingPages, workspaceId, cursor);
  const campaign =
    campaignCode === undefined ? undefined : await campaigns.findByCode(workspaceId, campaignCode);
  if (campaignCode !== undefined && campaign === undefined) return { landingPages: [] };
  // One additional row shows whether there is a next page.
  const rows = await landingPages.list(
    workspaceId,
    {
      mapped: mapped === undefined ? undefined : mapped === 'true',
      campaignId: campaign?.id,
      userId: visibleTo(principal).userId,
      state: pending === 'true' ? 'pending' : dismissed === 'true' ? 'dismissed' : 'approved',
    },
    { limit: limit + 1, after },
  );
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    landingPages: await toLandingPageViews(landingPages, principal, page),
    ...(rows.length > limit && last !== undefined && { nextCursor: last.id }),
  };
}

/** Returns the name after which a page begins. The cursor is the id of that landing page, because names may be long. */
async function findPosition(
  landingPages: Pick<LandingPageStore, 'find'>,
  workspaceId: string,
  cursor: string,
): Promise<string> {
  const last = uuidPattern.test(cursor) ? await landingPages.find(workspaceId, { id: cursor }) : undefined;
  if (last === undefined) {
    throw new LeadsError('invalid_cursor', {
      fields: [{ at: 'query', path: 'cursor', reason: 'must come from a page of the same list' }],
    });
  }
  return last.name;
}

import type { Principal } from '../credential/principal.ts';
import { LeadsError } from '../errors.ts';
import { uuidPattern } from '../uuid.ts';
import type { LandingPageDismissal, LandingPageView } from './campaign.schema.ts';
import type { LandingPageStore } from './landing-page-store.ts';
import { toLandingPageViews } from './landing-page.ts';

/**
 * Dismisses a landing page without a campaign, or lets a dismissed one wait for approval. Its leads are stored and routed
 * as before.
 *
 * @throws LeadsError `not_found`; `conflict` if a landing page to dismiss is mapped to a campaign, or one to restore is
 *   approved; `limit_reached`.
 */
export async function dismissLandingPage(
  landingPages: LandingPageStore,
  principal: Principal,
  id: string,
  { dismissed }: LandingPageDismissal,
): Promise<LandingPageView> {
  if (!uuidPattern.test(id)) throw new LeadsError('not_found');
  const page = await landingPages.dismiss(principal.workspaceId, { id }, dismissed);
  if (page === undefined) throw new LeadsError('not_found');
  const [view] = await toLandingPageViews(landingPages, principal, [page]);
  return view as LandingPageView;
}

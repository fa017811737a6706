import type { CampaignStore } from '../campaign/campaign-store.ts';
import type { LandingPageRegistrar } from '../campaign/landing-page-registrar.ts';
import type { Principal } from '../credential/principal.ts';
import { idempotentId } from './idempotency.ts';
import { fromIntakeLead } from './lead.ts';
import type { IntakeLead } from './lead.schema.ts';
import type { LeadStore } from './lead-store.ts';

/**
 * Takes a lead from a landing page (specification, 4.3). Its campaign is the landing page's, else the API
 * key's default, else the workspace's default; a landing page not seen before is registered afterwards.
 *
 * @param ip the visitor's address.
 * @param idempotencyKey makes a repeat answer the id of the lead that stands already.
 * @returns the lead's id, the answer's `order_id`, once the lead is stored.
 */
export async function submitLead(
  stores: { campaigns: CampaignStore; leads: LeadStore; landingPages: LandingPageRegistrar },
  principal: Principal,
  body: IntakeLead,
  ip: string,
  idempotencyKey?: string,
): Promise<{ id: string; extraLeftOut: number }> {
  const { workspaceId } = principal;
  const route = await stores.campaigns.routeIntakeLead(
    workspaceId,
    body.lp_name,
    principal.defaultCampaignId,
  );
  const { lead, extraLeftOut } = fromIntakeLead(
    body,
    {
      id: idempotencyKey === undefined ? undefined : idempotentId(workspaceId, idempotencyKey),
      workspaceId,
      userId: principal.userId,
      campaignId: route.campaignId,
    },
    ip,
  );
  await stores.leads.insert([{ ...lead, duplicateWindowSeconds: route.duplicateWindowSeconds }]);
  if (body.lp_name !== undefined && !route.landingPageKnown) {
    stores.landingPages.register(workspaceId, body.lp_name);
  }
  return { id: lead.id, extraLeftOut };
}

import { randomBytes } from 'node:crypto';
import type { Principal } from '../credential/principal.ts';
import { LeadsError } from '../errors.ts';
import type { CampaignStore, IntegrationPage } from './campaign-store.ts';

/** What the address of an integration page ends in: 32 random bytes, in base64url. */
const tokenShape = /^[\w-]{43}$/;

type Member = Pick<Principal, 'workspaceId'>;

/**
 * The secret of a campaign's integration page, which whoever has its link can read; absent where there is none.
 *
 * @throws LeadsError `not_found`.
 */
export async function getIntegrationToken(
  campaigns: Pick<CampaignStore, 'findIntegrationToken'>,
  { workspaceId }: Member,
  id: string,
): Promise<string | undefined> {
  const found = await campaigns.findIntegrationToken(workspaceId, id);
  if (found === undefined) throw new LeadsError('not_found');
  return found.token;
}

/**
 * Gives a campaign's integration page a new address, or its first; the old one leads nowhere any more.
 *
 * @throws LeadsError `not_found`.
 */
export async function renewIntegrationToken(
  campaigns: Pick<CampaignStore, 'setIntegrationToken'>,
  { workspaceId }: Member,
  id: string,
): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  if (!(await campaigns.setIntegrationToken(workspaceId, id, token))) throw new LeadsError('not_found');
  return token;
}

/** Takes a campaign's integration page down. @throws LeadsError `not_found`. */
export async function removeIntegrationToken(
  campaigns: Pick<CampaignStore, 'setIntegrationToken'>,
  { workspaceId }: Member,
  id: string,
): Promise<void> {
  if (!(await campaigns.setIntegrationToken(workspaceId, id, undefined))) throw new LeadsError('not_found');
}

/** What an integration page says. @throws LeadsError `not_found`. */
export async function getIntegrationPage(
  campaigns: Pick<CampaignStore, 'findIntegrationPage'>,
  token: string,
): Promise<IntegrationPage> {
  const page = tokenShape.test(token) ? await campaigns.findIntegrationPage(token) : undefined;
  if (page === undefined) throw new LeadsError('not_found');
  return page;
}

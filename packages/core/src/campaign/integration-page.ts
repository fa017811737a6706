import { randomBytes } from 'node:crypto';
import type { Principal } from '../credential/principal.ts';
import { LeadsError } from '../errors.ts';
import type { IntegrationPage, IntegrationPageStore } from './integration-page-store.ts';

/** The token at the end of an integration page's address: 32 random bytes in base64url. */
const tokenShape = /^[\w-]{43}$/;

type Member = Pick<Principal, 'workspaceId'>;

/**
 * Returns the token of a campaign's integration page, which anyone with its link can read; `undefined` if there is none.
 *
 * @throws LeadsError `not_found`.
 */
export async function getIntegrationToken(
  pages: IntegrationPageStore,
  { workspaceId }: Member,
  id: string,
): Promise<string | undefined> {
  const found = await pages.findToken(workspaceId, id);
  if (found === undefined) throw new LeadsError('not_found');
  return found.token;
}

/**
 * Creates a campaign's integration page, or gives it a new address. The old address stops working.
 *
 * @throws LeadsError `not_found`.
 */
export async function renewIntegrationToken(
  pages: IntegrationPageStore,
  { workspaceId }: Member,
  id: string,
): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  if (!(await pages.setToken(workspaceId, id, token))) throw new LeadsError('not_found');
  return token;
}

/** Removes a campaign's integration page. @throws LeadsError `not_found`. */
export async function removeIntegrationToken(
  pages: IntegrationPageStore,
  { workspaceId }: Member,
  id: string,
): Promise<void> {
  if (!(await pages.setToken(workspaceId, id, undefined))) throw new LeadsError('not_found');
}

/** Returns the content of an integration page. @throws LeadsError `not_found`. */
export async function getIntegrationPage(
  pages: IntegrationPageStore,
  token: string,
): Promise<IntegrationPage> {
  const page = tokenShape.test(token) ? await pages.findPage(token) : undefined;
  if (page === undefined) throw new LeadsError('not_found');
  return page;
}

import type { CampaignStore } from '@leads/core/campaign';
import { type AccessTokenCodec, CredentialVerifier } from '@leads/core/credential';
import { createCampaignStore, createCredentialLookup, createLeadStore, openDatabase } from '@leads/core/db';
import type { LeadStore } from '@leads/core/lead';
import { createAccessTokenCodec } from './access-token-codec.ts';
import type { CrmConfig } from './config.ts';

/** Everything the CRM service needs, built once. */
export interface CrmContext extends AsyncDisposable {
  readonly accessTokens: AccessTokenCodec;
  readonly campaigns: CampaignStore;
  readonly credentials: CredentialVerifier;
  readonly leads: LeadStore;
  /** @throws LeadsError `unavailable` when the database does not answer. */
  readonly pingDatabase: () => Promise<void>;
}

export async function createContext(config: CrmConfig): Promise<CrmContext> {
  const database = openDatabase({
    url: config.DATABASE_URL,
    poolSize: config.DATABASE_POOL_SIZE,
    connectTimeoutMs: config.DATABASE_CONNECT_TIMEOUT_MS,
    statementTimeoutMs: config.DATABASE_STATEMENT_TIMEOUT_MS,
    applicationName: 'leads-crm',
  });
  return {
    accessTokens: await createAccessTokenCodec(config.JWT_SECRET),
    campaigns: createCampaignStore(database),
    credentials: new CredentialVerifier(createCredentialLookup(database)),
    leads: createLeadStore(database),
    pingDatabase: () => database.ping(),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

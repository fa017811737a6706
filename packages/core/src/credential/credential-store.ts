import type { ApiKeyScope, MemberRole } from './principal.ts';

export interface ApiKey {
  readonly id: string;
  readonly workspaceId: string;
  readonly userId: string;
  readonly name: string;
  readonly prefix: string;
  readonly scope: ApiKeyScope;
  readonly defaultCampaignId?: string | undefined;
  /** Web origins it is bound to; none for a secret key. */
  readonly allowedOrigins: readonly string[];
  /** The key that it is to replace. */
  readonly replacesId?: string | undefined;
  readonly createdAt: Date;
  readonly expiresAt?: Date | undefined;
  readonly revokedAt?: Date | undefined;
  readonly lastUsedAt?: Date | undefined;
  readonly lastUsedFrom?: string | undefined;
}

export interface AccessToken {
  readonly id: string;
  readonly workspaceId: string;
  readonly userId: string;
  readonly name: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly revokedAt?: Date | undefined;
  readonly lastUsedAt?: Date | undefined;
  readonly lastUsedFrom?: string | undefined;
}

/** When and from where a credential was used last. */
export interface Use {
  readonly at: Date;
  /** An IPv4 or IPv6 address; absent if it is not known. */
  readonly from?: string | undefined;
}

/** Uses of credentials, by the ids of their rows. */
export interface Uses {
  readonly apiKeys: ReadonlyMap<string, Use>;
  readonly accessTokens: ReadonlyMap<string, Use>;
}

/** A member of a workspace, and whose credentials are meant. */
export interface MemberRef {
  readonly workspaceId: string;
  readonly userId: string;
}

/** What an API key is taken for, with its member's role. */
export type KnownApiKey = Pick<
  ApiKey,
  | 'id'
  | 'workspaceId'
  | 'userId'
  | 'scope'
  | 'defaultCampaignId'
  | 'allowedOrigins'
  | 'expiresAt'
  | 'revokedAt'
> & { readonly role: MemberRole };

/** What the guards ask of the store: both look-ups are by a unique key. */
export interface CredentialLookup {
  /** The key of a SHA-256 (32 bytes) with its member's role; revoked and expired ones too. */
  findApiKey(hash: Buffer): Promise<KnownApiKey | undefined>;
  findAccessToken(id: string): Promise<AccessToken | undefined>;
}

/** What managing credentials asks of the store. */
export interface CredentialStore extends CredentialLookup {
  createApiKey(
    key: Omit<ApiKey, 'revokedAt' | 'lastUsedAt' | 'lastUsedFrom'> & { readonly hash: Buffer },
  ): Promise<void>;
  /** The keys of a member, or of the whole workspace; newest first. */
  listApiKeys(workspaceId: string, userId?: string): Promise<ApiKey[]>;
  /**
   * Revokes by id or by prefix within a workspace. A key that is revoked already keeps the time of the first
   * revocation; a prefix of several keys revokes none.
   *
   * @returns the keys it names: none, the one now revoked, or those to choose from.
   */
  revokeApiKey(workspaceId: string, idOrPrefix: string, at: Date): Promise<ApiKey[]>;

  createAccessToken(token: Omit<AccessToken, 'revokedAt' | 'lastUsedAt' | 'lastUsedFrom'>): Promise<void>;
  listAccessTokens(workspaceId: string, userId?: string): Promise<AccessToken[]>;
  /** @returns the token, revoked; `undefined` where the workspace has no token of that id. */
  revokeAccessToken(workspaceId: string, id: string, at: Date): Promise<AccessToken | undefined>;

  /** Records when credentials were used last. A use that is older than the stored one is ignored. */
  recordUses(uses: Uses): Promise<void>;
}

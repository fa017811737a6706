import type { ApiKeyScope } from './principal.ts';
import type { MemberRole } from './roles.ts';

export interface ApiKey {
  readonly id: string;
  readonly workspaceId: string;
  readonly userId: string;
  readonly name: string;
  readonly prefix: string;
  readonly scope: ApiKeyScope;
  readonly defaultCampaignId?: string | undefined;
  /** The web origins that the key is bound to; empty for a secret key. */
  readonly allowedOrigins: readonly string[];
  /** The networks that its requests must come from, in canonical form; empty if every address is accepted. */
  readonly allowedNetworks: readonly string[];
  /** The id of the key that it replaces. */
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

/** The last use of a credential. */
export interface LastUse {
  readonly at: Date;
  /** The IPv4 or IPv6 address; absent if unknown. */
  readonly from?: string | undefined;
}

/** The last uses of credentials, by their ids. */
export interface LastUses {
  readonly apiKeys: ReadonlyMap<string, LastUse>;
  readonly accessTokens: ReadonlyMap<string, LastUse>;
}

/** A reference to a member of a workspace. */
export interface MemberRef {
  readonly workspaceId: string;
  readonly userId: string;
}

/** The properties of an API key that authorization needs, with its member's role. */
export type KnownApiKey = Pick<
  ApiKey,
  | 'id'
  | 'workspaceId'
  | 'userId'
  | 'scope'
  | 'defaultCampaignId'
  | 'allowedOrigins'
  | 'allowedNetworks'
  | 'expiresAt'
  | 'revokedAt'
> & { readonly role: MemberRole };

/** The lookups of the guards, both by a unique key. */
export interface CredentialLookup {
  /** Finds a key by its SHA-256 (32 bytes), also a revoked or expired one. */
  findApiKey(hash: Buffer): Promise<KnownApiKey | undefined>;
  findAccessToken(id: string): Promise<AccessToken | undefined>;
}

/** A key or token that was revoked together with all others of its user. */
type RevokedOfUser = { readonly id: string; readonly workspaceId: string; readonly name: string };

/** The store of credentials. */
export interface CredentialStore extends CredentialLookup {
  createApiKey(
    key: Omit<ApiKey, 'revokedAt' | 'lastUsedAt' | 'lastUsedFrom'> & { readonly hash: Buffer },
  ): Promise<void>;
  /** Lists the keys of a member, or of the whole workspace, newest first. */
  listApiKeys(workspaceId: string, userId?: string): Promise<ApiKey[]>;
  /**
   * Revokes a key of a workspace by id or by prefix. A revoked key keeps the time of its first revocation. If several keys
   * have the prefix, none is revoked.
   *
   * @returns the matching keys: none, the revoked key, or several keys to choose from.
   */
  revokeApiKey(workspaceId: string, idOrPrefix: string, at: Date): Promise<ApiKey[]>;

  createAccessToken(token: Omit<AccessToken, 'revokedAt' | 'lastUsedAt' | 'lastUsedFrom'>): Promise<void>;
  listAccessTokens(workspaceId: string, userId?: string): Promise<AccessToken[]>;
  /** Returns the revoked token; `undefined` if the workspace has no token of that id. */
  revokeAccessToken(workspaceId: string, id: string, at: Date): Promise<AccessToken | undefined>;

  /** Revokes all keys and tokens of a user in all workspaces. Returns the revoked ones. */
  revokeAllOfUser(
    userId: string,
    at: Date,
  ): Promise<{ readonly apiKeys: readonly RevokedOfUser[]; readonly accessTokens: readonly RevokedOfUser[] }>;

  /** Records when credentials were used last. A use that is older than the stored one is ignored. */
  recordUses(uses: LastUses): Promise<void>;
}

import type {
  ApiKey,
  CredentialLookup,
  CredentialStore,
  LastUse,
  MemberRef,
} from '../credential/credential-store.ts';
import type { SingleScope } from '../credential/principal.ts';
import { requireRoom } from '../limits/caps.ts';
import { boundTime } from '../parse-time.ts';
import { uuidPattern } from '../uuid.ts';
import type { Database, Transaction } from './client.ts';
import { Prisma } from './generated/client.ts';
import { lockWorkspace } from './lock-workspace.ts';
import { withoutNulls } from './without-nulls.ts';

const apiKeyColumns = {
  id: true,
  workspaceId: true,
  userId: true,
  name: true,
  prefix: true,
  scope: true,
  scopes: true,
  defaultCampaignId: true,
  allowedOrigins: true,
  allowedNetworks: true,
  replacesId: true,
  createdAt: true,
  expiresAt: true,
  revokedAt: true,
  lastUsedAt: true,
  lastUsedFrom: true,
} as const;

const newestFirst = [{ createdAt: 'desc' as const }, { id: 'desc' as const }];

/** Converts a row. Single scopes take precedence: the release before reads `scope` only. */
function toApiKey({
  scope,
  scopes,
  ...row
}: Prisma.ApiKeyGetPayload<{ select: typeof apiKeyColumns }>): ApiKey {
  return {
    ...withoutNulls(row),
    expiresAt: row.expiresAt === null ? undefined : readExpiry(row.expiresAt),
    scope: scopes.length === 0 ? scope : (scopes as SingleScope[]),
  };
}

/**
 * Returns an expiry by the end of the year 9999. The release before stores later ones when it rotates a key, and Prisma's
 * adapter reads them as an invalid date, which no list of keys can return.
 */
function readExpiry(stored: Date): Date {
  return Number.isNaN(stored.getTime()) ? boundTime(Number.POSITIVE_INFINITY) : stored;
}

/** Creates the lookups of the guards, in Postgres. */
function createCredentialLookup({ prisma }: Database): CredentialLookup {
  return {
    async findApiKey(hash) {
      const found = await prisma.apiKey.findUnique({
        where: { hash: Uint8Array.from(hash) },
        select: { ...apiKeyColumns, member: { select: { role: true } } },
      });
      if (found === null) return undefined;
      const { member, ...key } = found;
      return { ...toApiKey(key), role: member.role };
    },

    async findAccessToken(id) {
      const token = await prisma.accessToken.findUnique({ where: { id } });
      return token === null ? undefined : withoutNulls(token);
    },
  };
}

const ofMember = (workspaceId: string, userId?: string) => ({
  where: { workspaceId, ...(userId !== undefined && { userId }) },
  orderBy: newestFirst,
});

const dayMs = 86_400_000;

/** Creation times within the last day. Credentials of that time count towards the caps, active or not. */
const ofLastDay = () => ({ createdAt: { gt: new Date(Date.now() - dayMs) } });

/** The caps of one publisher, by those of its workspace. */
const capsOfPublisher = { apiKeys: 'publisherApiKeys', accessTokens: 'publisherAccessTokens' } as const;

/**
 * Locks the workspace, and checks that a member may create one more credential. The credentials of a publisher have a cap of
 * their own. Without it, one publisher could use up the cap of the workspace.
 *
 * @param count returns the number of credentials of the workspace, or of one of its users.
 * @throws LeadsError `limit_reached`
 */
async function requireRoomForMember(
  tx: Transaction,
  { workspaceId, userId }: MemberRef,
  kind: 'apiKeys' | 'accessTokens',
  count: (of: { readonly workspaceId: string; readonly userId?: string }) => Promise<number>,
): Promise<void> {
  await lockWorkspace(tx, workspaceId);
  const publishers = await tx.member.count({ where: { workspaceId, userId, role: 'publisher' } });
  if (publishers > 0) requireRoom(capsOfPublisher[kind], await count({ workspaceId, userId }));
  requireRoom(kind, await count({ workspaceId }));
}

/** API keys and access tokens in Postgres. */
export function createCredentialStore(database: Database): CredentialStore {
  const { prisma, transaction } = database;
  return {
    ...createCredentialLookup(database),

    async createApiKey({ hash, scope, ...key }) {
      await transaction(async (tx) => {
        const unexpired = { OR: [{ expiresAt: null }, { expiresAt: { gt: new Date() } }] };
        const counted = { OR: [ofLastDay(), { revokedAt: null, ...unexpired }] };
        await requireRoomForMember(tx, key, 'apiKeys', (of) =>
          tx.apiKey.count({ where: { ...of, ...counted } }),
        );
        await tx.apiKey.create({
          data: {
            ...key,
            hash: Uint8Array.from(hash),
            ...(typeof scope === 'string' ? { scope } : { scope: 'intake', scopes: [...scope] }),
            allowedOrigins: [...key.allowedOrigins],
            allowedNetworks: [...key.allowedNetworks],
            defaultCampaignId: key.defaultCampaignId ?? null,
            replacesId: key.replacesId ?? null,
            expiresAt: key.expiresAt ?? null,
          },
        });
      });
    },

    async listApiKeys(workspaceId, userId) {
      const keys = await prisma.apiKey.findMany({ ...ofMember(workspaceId, userId), select: apiKeyColumns });
      return keys.map(toApiKey);
    },

    async revokeApiKey(workspaceId, idOrPrefix, at) {
      const find = async (which: { id: string } | { prefix: string }) => {
        const where = { workspaceId, ...which };
        const keys = await prisma.apiKey.findMany({ where, orderBy: newestFirst, select: apiKeyColumns });
        return keys.map(toApiKey);
      };
      const named = await find(uuidPattern.test(idOrPrefix) ? { id: idOrPrefix } : { prefix: idOrPrefix });
      const [key] = named;
      if (key === undefined || named.length > 1) return named;
      await prisma.apiKey.updateMany({ where: { id: key.id, revokedAt: null }, data: { revokedAt: at } });
      return find({ id: key.id });
    },

    async createAccessToken(token) {
      await transaction(async (tx) => {
        const counted = { OR: [ofLastDay(), { revokedAt: null, expiresAt: { gt: new Date() } }] };
        await requireRoomForMember(tx, token, 'accessTokens', (of) =>
          tx.accessToken.count({ where: { ...of, ...counted } }),
        );
        await tx.accessToken.create({ data: token });
      });
    },

    async listAccessTokens(workspaceId, userId) {
      return (await prisma.accessToken.findMany(ofMember(workspaceId, userId))).map(withoutNulls);
    },

    async revokeAccessToken(workspaceId, id, at) {
      if (!uuidPattern.test(id)) return undefined;
      await prisma.accessToken.updateMany({
        where: { workspaceId, id, revokedAt: null },
        data: { revokedAt: at },
      });
      const token = await prisma.accessToken.findFirst({ where: { workspaceId, id } });
      return token === null ? undefined : withoutNulls(token);
    },

    async revokeAllOfUser(userId, at) {
      const select = { id: true, workspaceId: true, name: true };
      const change = { where: { userId, revokedAt: null }, data: { revokedAt: at }, select };
      const [apiKeys, accessTokens] = await prisma.$transaction([
        prisma.apiKey.updateManyAndReturn(change),
        prisma.accessToken.updateManyAndReturn(change),
      ]);
      return { apiKeys, accessTokens };
    },

    async recordUses({ apiKeys, accessTokens }) {
      const write = async (table: Prisma.Sql, uses: ReadonlyMap<string, LastUse>) => {
        if (uses.size === 0) return;
        // Sorted, because instances that lock the same rows in different orders would deadlock.
        const ordered = [...uses].toSorted(([a], [b]) => (a < b ? -1 : 1));
        const ids = ordered.map(([id]) => id);
        const times = ordered.map(([, { at }]) => at);
        const addresses = ordered.map(([, { from }]) => from ?? null);
        await prisma.$executeRaw`
          UPDATE ${table} AS stored SET last_used_at = used.at, last_used_from = used.address::inet
          FROM unnest(${ids}::uuid[], ${times}::timestamptz[], ${addresses}::text[]) AS used (id, at, address)
          WHERE stored.id = used.id AND (stored.last_used_at IS NULL OR stored.last_used_at < used.at)`;
      };
      await write(Prisma.sql`api_key`, apiKeys);
      await write(Prisma.sql`access_token`, accessTokens);
    },
  };
}

import type { AccountStore } from '../account/account-store.ts';
import { passwordLinkPrefixes } from '../account/password-link-prefixes.ts';
import { FairQueue } from '../limits/fair-queue.ts';
import { uuidPattern } from '../uuid.ts';
import { advisoryLocks } from './advisory-locks.ts';
import type { Database } from './client.ts';
import { Prisma } from './generated/client.ts';
import { withoutNulls } from './without-nulls.ts';

const sessionColumns = {
  id: true,
  createdAt: true,
  updatedAt: true,
  expiresAt: true,
  ipAddress: true,
  userAgent: true,
} as const;

/** The time for which attempts are retained after their window has ended, in milliseconds. */
const attemptsKeptMs = 24 * 60 * 60 * 1000;

/** The number of attempts in a row without a pause between them. */
const attemptsWithoutPause = 10;
/** The limits of the pause between later attempts, in milliseconds. */
const [minPauseMs, maxPauseMs] = [1_000, 5 * 60 * 1_000];

/** The prefix that the account library gives to the identifier of a browser that needs no second factor. */
const trustedBrowserPrefix = 'trust-device-';
const trustedBrowsersOf = (userId: string) => ({
  value: userId,
  identifier: { startsWith: trustedBrowserPrefix },
});
/** The prefix that the account library gives to the identifier of a sign-in that waits for the second factor. */
const pendingSignInPrefix = '2fa-';

/** Sessions, invitations and attempts in Postgres. */
export function createAccountStore({ prisma, select, transaction }: Database): AccountStore {
  // Changes also queue up within the process. Otherwise waiters for the lock could take all connections of the pool, and
  // the holder of the lock would get none.
  const changes = new FairQueue(1);
  return {
    async listSessions(userId) {
      const sessions = await prisma.session.findMany({
        where: { userId, expiresAt: { gt: new Date() } },
        orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
        select: sessionColumns,
      });
      return sessions.map(withoutNulls);
    },

    async endSession(userId, id) {
      if (!uuidPattern.test(id)) return false;
      return (await prisma.session.deleteMany({ where: { userId, id } })).count > 0;
    },

    async findInvitation(id) {
      if (!uuidPattern.test(id)) return undefined;
      const found = await prisma.invitation.findFirst({
        where: { id, status: 'pending', expiresAt: { gt: new Date() } },
        select: {
          email: true,
          role: true,
          expiresAt: true,
          workspace: { select: { name: true } },
          inviter: { select: { name: true } },
        },
      });
      if (found === null) return undefined;
      return { ...found, workspace: found.workspace.name, inviter: found.inviter.name };
    },

    async listInvitations(workspaceId) {
      return prisma.invitation.findMany({
        where: { workspaceId, status: 'pending', expiresAt: { gt: new Date() } },
        orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
        select: { id: true, email: true, role: true, createdAt: true, expiresAt: true },
      });
    },

    async isInvited(email) {
      const where = { email: email.toLowerCase(), status: 'pending', expiresAt: { gt: new Date() } };
      return (await prisma.invitation.findFirst({ where, select: { id: true } })) !== null;
    },

    async cancelInvitation(id) {
      const { count } = await prisma.invitation.updateMany({
        where: { id, status: { not: 'accepted' } },
        data: { status: 'canceled' },
      });
      return count > 0;
    },

    async cancelInvitations(workspaceId, email) {
      await prisma.invitation.updateMany({
        where: { workspaceId, email, status: 'pending' },
        data: { status: 'canceled' },
      });
    },

    async countAttempt(key, windowMs) {
      const now = new Date();
      const began = new Date(now.getTime() - windowMs);
      // A single statement counts concurrent attempts correctly.
      const [attempt] = await select<{ count: number; since: Date }>(Prisma.sql`
        INSERT INTO attempt AS stored ("key", "count", "since") VALUES (${key}, 1, ${now})
        ON CONFLICT ("key") DO UPDATE SET
          "count" = CASE WHEN stored.since <= ${began} THEN 1 ELSE stored.count + 1 END,
          "since" = CASE WHEN stored.since <= ${began} THEN ${now} ELSE stored.since END
        RETURNING "count", "since"`);
      if (attempt === undefined) throw new Error('An upsert returns its row');
      if (attempt.count === 1) {
        const over = new Date(now.getTime() - Math.max(windowMs, attemptsKeptMs));
        await prisma.attempt.deleteMany({ where: { since: { lt: over } } });
      }
      const leftMs = Math.max(0, attempt.since.getTime() + windowMs - now.getTime());
      return { count: attempt.count, leftMs };
    },

    async resetAttempts(key) {
      await prisma.attempt.deleteMany({ where: { key } });
    },

    async takeTurn(key) {
      const now = new Date();
      const forgotten = new Date(now.getTime() - attemptsKeptMs);
      // A single statement lets only one of concurrent attempts take the turn.
      const pauseOf = Prisma.sql`CASE WHEN stored.count < ${attemptsWithoutPause} THEN 0
        ELSE least(${maxPauseMs}, 1000 * 2 ^ least(stored.count - ${attemptsWithoutPause}, 30)) END
        * interval '1 millisecond'`;
      const [turn] = await select<{ isCounted: boolean; leftMs: number }>(Prisma.sql`
        WITH turn AS (
          INSERT INTO attempt AS stored ("key", "count", "since") VALUES (${key}, 1, ${now})
          ON CONFLICT ("key") DO UPDATE SET
            "count" = CASE WHEN stored.since <= ${forgotten} THEN 1 ELSE stored.count + 1 END, "since" = ${now}
          WHERE stored.since <= ${forgotten} OR stored.since + ${pauseOf} <= ${now}
          RETURNING "key")
        SELECT true AS "isCounted", 0::float8 AS "leftMs" FROM turn
        UNION ALL
        SELECT false, extract(epoch FROM stored.since + ${pauseOf} - ${now})::float8 * 1000
        FROM attempt AS stored WHERE stored.key = ${key} AND NOT EXISTS (SELECT FROM turn)`);
      if (turn?.isCounted === true) return 0;
      // This statement may not see the row of a concurrent attempt, or sees it without that attempt.
      return turn === undefined || turn.leftMs <= 0 ? minPauseMs : Math.ceil(turn.leftMs);
    },

    async hasSecondFactor(userId) {
      const user = await prisma.user.findUnique({
        where: { id: userId },
        select: { twoFactorEnabled: true },
      });
      return user?.twoFactorEnabled === true;
    },

    async findPasswordHash(email) {
      const account = await prisma.account.findFirst({
        where: { user: { email: email.toLowerCase() }, providerId: 'credential' },
        select: { password: true },
      });
      return account?.password ?? undefined;
    },

    async removePassword(userId) {
      await prisma.$transaction([
        prisma.account.updateMany({ where: { userId, providerId: 'credential' }, data: { password: null } }),
        prisma.session.deleteMany({ where: { userId } }),
      ]);
    },

    async removeTrustedBrowsers(userId) {
      await prisma.verification.deleteMany({ where: trustedBrowsersOf(userId) });
    },

    async endPendingSignIns(userId) {
      await prisma.verification.deleteMany({
        where: { value: userId, identifier: { startsWith: pendingSignInPrefix } },
      });
    },

    async removeSecondFactor(userId) {
      return transaction(async (tx) => {
        const { count } = await tx.user.updateMany({
          where: { id: userId, twoFactorEnabled: true },
          data: { twoFactorEnabled: false },
        });
        if (count === 0) return false;
        await tx.twoFactor.deleteMany({ where: { userId } });
        await tx.verification.deleteMany({ where: trustedBrowsersOf(userId) });
        await tx.session.deleteMany({ where: { userId } });
        return true;
      });
    },

    async voidPasswordLinks(userId, beforeId) {
      await prisma.verification.deleteMany({
        where: {
          value: userId,
          OR: passwordLinkPrefixes.map((prefix) => ({ identifier: { startsWith: prefix } })),
          // Links of concurrent requests would void each other if each voided all others.
          ...(beforeId !== undefined && { id: { lt: beforeId } }),
        },
      });
    },

    async withMembersLocked(workspaceId, work) {
      return changes.run(workspaceId, () =>
        transaction(async (tx) => {
          await tx.$executeRaw`SELECT pg_advisory_xact_lock(${advisoryLocks.members}::bigint)`;
          return work();
        }),
      );
    },
  };
}

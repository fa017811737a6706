import type { LandingPage, LandingPageState, LandingPageStore } from '../campaign/landing-page-store.ts';
import { LeadsError } from '../errors.ts';
import { requireRoom } from '../limits/caps.ts';
import { newId } from '../uuid.ts';
import { addLandingPages } from './add-landing-pages.ts';
import type { Database } from './client.ts';
import { orConflict } from './database-error.ts';
import { Prisma } from './generated/client.ts';
import { lockWorkspace } from './lock-workspace.ts';
import { withoutNulls } from './without-nulls.ts';

/** Landing pages in Postgres. */
export function createLandingPageStore({ prisma, select, transaction }: Database): LandingPageStore {
  /** Returns the ids of the landing pages that sent leads of a user, or that a key of the user registered. */
  const ownLandingPages = async (workspaceId: string, userId: string) => {
    // The aggregated counts of the user are few rows, also if the landing pages have millions of leads of others.
    const rows = await select<{ id: string }>(
      Prisma.sql`
        SELECT id FROM landing_page WHERE workspace_id = ${workspaceId}::uuid AND (
          name IN (
            SELECT value FROM lead_tally
            WHERE workspace_id = ${workspaceId}::uuid AND of_id = ${userId}::uuid AND kind = 'landing_page'
            UNION
            SELECT lp_name FROM lead_tally_entry WHERE workspace_id = ${workspaceId}::uuid AND user_id = ${userId}::uuid
          )
          OR registered_by IN (
            SELECT id FROM api_key WHERE workspace_id = ${workspaceId}::uuid AND user_id = ${userId}::uuid
          )
        )`,
      { workspaceId },
    );
    return rows.map(({ id }) => id);
  };

  return {
    async find(workspaceId, page) {
      const found = await transaction(
        (tx) => tx.landingPage.findFirst({ where: { workspaceId, ...page }, select: landingPageColumns }),
        { workspaceId },
      );
      return found === null ? undefined : toLandingPage(found);
    },

    add: (pages, capPerKey) => addLandingPages(prisma, pages, capPerKey),

    async create({ workspaceId, name, campaignId = null }) {
      const data = { id: newId(), workspaceId, name, campaignId };
      const created = transaction(
        async (tx) => {
          await lockWorkspace(tx, workspaceId);
          const [page] = await tx.landingPage.updateManyAndReturn({
            where: { workspaceId, name, pendingSince: { not: null } },
            data: { campaignId, ...approved },
            select: landingPageColumns,
          });
          if (page !== undefined) return toLandingPage(page);
          const count = await tx.landingPage.count({ where: { workspaceId, pendingSince: null } });
          requireRoom('landingPages', count);
          return toLandingPage(await tx.landingPage.create({ data, select: landingPageColumns }));
        },
        { workspaceId },
      );
      return orConflict(created, {
        message: 'A landing page with this name already exists',
        fields: [{ at: 'body', path: '/name', reason: 'is used by another landing page' }],
      });
    },

    async map(workspaceId, page, campaignId) {
      return transaction(
        async (tx) => {
          // A dismissal depends on the mapping.
          await lockWorkspace(tx, workspaceId);
          const [mapped] = await tx.landingPage.updateManyAndReturn({
            where: { workspaceId, ...page },
            data: { campaignId: campaignId ?? null, ...approved },
            select: landingPageColumns,
          });
          return mapped && toLandingPage(mapped);
        },
        { workspaceId },
      );
    },

    async dismiss(workspaceId, page, isDismissed) {
      return transaction(
        async (tx) => {
          await lockWorkspace(tx, workspaceId);
          const where = { workspaceId, ...page };
          const found = await tx.landingPage.findFirst({ where, select: landingPageColumns });
          if (found === null) return undefined;
          if (found.pendingSince === null && !isDismissed) {
            throw new LeadsError('conflict', { message: 'An approved landing page cannot be restored' });
          }
          if (found.campaignId !== null) {
            throw new LeadsError('conflict', {
              message: 'A landing page that is mapped to a campaign cannot be dismissed: unmap it first',
            });
          }
          if ((found.dismissedAt !== null) === isDismissed) return toLandingPage(found);
          if (isDismissed) {
            const count = await tx.landingPage.count({ where: { workspaceId, ...states.dismissed } });
            requireRoom('dismissedLandingPages', count);
          }
          const now = new Date();
          const changed = await tx.landingPage.update({
            where: { id: found.id },
            data: isDismissed
              ? { pendingSince: found.pendingSince ?? now, dismissedAt: now }
              : { dismissedAt: null },
            select: landingPageColumns,
          });
          return toLandingPage(changed);
        },
        { workspaceId },
      );
    },

    async list(workspaceId, { mapped, campaignId, state = 'approved', userId }, { limit, after }) {
      const own = userId === undefined ? undefined : await ownLandingPages(workspaceId, userId);
      const pages = await transaction(
        (tx) =>
          tx.landingPage.findMany({
            where: {
              workspaceId,
              ...states[state],
              ...(mapped !== undefined && { campaignId: mapped ? { not: null } : null }),
              ...(campaignId !== undefined && { campaignId }),
              ...(after !== undefined && { name: { gt: after } }),
              ...(own !== undefined && { id: { in: own } }),
            },
            orderBy: { name: 'asc' },
            take: limit,
            select: landingPageColumns,
          }),
        { workspaceId },
      );
      return pages.map(toLandingPage);
    },

    async countByCampaign(workspaceId) {
      const rows = await select<{ campaignId: string; pages: number }>(
        Prisma.sql`
          SELECT campaign_id AS "campaignId", count(*)::int AS pages FROM landing_page
          WHERE workspace_id = ${workspaceId}::uuid AND campaign_id IS NOT NULL AND pending_since IS NULL
          GROUP BY campaign_id`,
        { workspaceId },
      );
      return new Map(rows.map(({ campaignId, pages }) => [campaignId, pages]));
    },

    async countLeads({ workspaceId, userId }, landingPages, newest) {
      // The index holds the first 255 characters of a name, the maximum length of a landing page's name.
      const counts = await select<{ name: string; leads: number; isTruncated: boolean }>(
        Prisma.sql`
        SELECT page.name, counted.leads, counted.examined >= ${newest} AS "isTruncated"
        FROM unnest(${[...landingPages]}::text[]) AS page (name), LATERAL (
          SELECT count(*) AS examined,
            count(*) FILTER (WHERE ${userId ?? null}::uuid IS NULL OR user_id = ${userId ?? null}::uuid)::int AS leads
          FROM (
            SELECT user_id FROM lead_of_workspace
            WHERE workspace_id = ${workspaceId}::uuid AND lp_name IS NOT NULL
              AND left(lp_name, 255) = page.name AND lp_name = page.name
            ORDER BY created_at DESC, id DESC
            LIMIT ${newest}
          ) AS newest
        ) AS counted`,
        { workspaceId },
      );
      return new Map(counts.map(({ name, ...count }) => [name, count]));
    },
  };
}

/** The conditions of the states of landing pages. */
const states = {
  approved: { pendingSince: null },
  pending: { pendingSince: { not: null }, dismissedAt: null },
  dismissed: { pendingSince: { not: null }, dismissedAt: { not: null } },
} as const satisfies Record<LandingPageState, object>;

/** The change that approves a landing page. */
const approved = { pendingSince: null, dismissedAt: null } as const;

const landingPageColumns = {
  id: true,
  name: true,
  campaignId: true,
  pendingSince: true,
  dismissedAt: true,
  createdAt: true,
  updatedAt: true,
  campaign: { select: { code: true } },
} as const;

function toLandingPage({
  campaign,
  ...page
}: {
  id: string;
  name: string;
  campaignId: string | null;
  pendingSince: Date | null;
  dismissedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
  campaign: { code: string } | null;
}): LandingPage {
  return withoutNulls({ ...page, campaignCode: campaign?.code ?? null });
}

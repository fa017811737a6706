import type { Campaign, CampaignStore, LandingPage, LandingPageState } from '../campaign/campaign-store.ts';
import { LeadsError } from '../errors.ts';
import { caps, requireRoom } from '../limits/caps.ts';
import { newId } from '../uuid.ts';
import type { Database, Transaction } from './client.ts';
import { isUniqueViolation } from './database-error.ts';
import { Prisma } from './generated/client.ts';
import { lockWorkspace } from './lock-workspace.ts';
import { rowsOfNewPages } from './new-landing-pages.ts';
import { withoutNulls } from './without-nulls.ts';

/**
 * Omits the token, which is a secret: it gives access to the integration page. Only the store of integration pages reads
 * it. The turn of the assignees is a detail of the trigger that assigns new leads.
 */
const omitted = { integrationToken: true, assigneeTurn: true } as const;

/** Campaigns and landing pages in Postgres. */
export function createCampaignStore({ prisma, select, transaction }: Database): CampaignStore {
  /** Runs `work` for one workspace. Row-level security, if enabled, hides the rows of other workspaces. */
  const ofWorkspace = <Result>(
    workspaceId: string,
    work: (tx: Transaction) => Promise<Result>,
  ): Promise<Result> => transaction(work, { workspaceId });
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
    async findByCode(workspaceId, code) {
      // A prepared statement, because every lead that the CRM creates runs it.
      const [campaign] = await select<Record<string, unknown>>(
        Prisma.sql`
          SELECT
            id, workspace_id AS "workspaceId", code, name, status, is_default AS "isDefault",
            duplicate_window_seconds AS "duplicateWindowSeconds",
            approve_after_seconds AS "approveAfterSeconds", retention_days AS "retentionDays",
            assignee_ids AS "assigneeIds",
            CASE WHEN payout_amount IS NOT NULL THEN
              jsonb_build_object('amount', trim_scale(payout_amount)::text, 'currency', payout_currency)
            END AS payout,
            created_at AS "createdAt", updated_at AS "updatedAt"
          FROM campaign WHERE workspace_id = ${workspaceId}::uuid AND code = ${code}`,
        { name: 'find_campaign', workspaceId },
      );
      return campaign && (withoutNulls(campaign) as unknown as Campaign);
    },

    async routeIntakeLead(workspaceId, landingPage, keyCampaignId) {
      const [route] = await prisma.$queryRaw<
        {
          campaignId: string | null;
          duplicateWindowSeconds: number | null;
          approveAfterSeconds: number | null;
          landingPageKnown: boolean;
        }[]
      >`
        SELECT
          campaign.id AS "campaignId",
          campaign.duplicate_window_seconds AS "duplicateWindowSeconds",
          campaign.approve_after_seconds AS "approveAfterSeconds",
          EXISTS (
            SELECT FROM landing_page WHERE workspace_id = ${workspaceId}::uuid AND name = ${landingPage ?? null}
          ) AS "landingPageKnown"
        FROM (SELECT COALESCE(
          (SELECT campaign.id FROM landing_page
             JOIN campaign ON campaign.workspace_id = landing_page.workspace_id
                          AND campaign.id = landing_page.campaign_id AND campaign.status = 'active'
             WHERE landing_page.workspace_id = ${workspaceId}::uuid AND landing_page.name = ${landingPage ?? null}),
          (SELECT id FROM campaign
             WHERE workspace_id = ${workspaceId}::uuid AND id = ${keyCampaignId ?? null}::uuid AND status = 'active'),
          (SELECT id FROM campaign WHERE workspace_id = ${workspaceId}::uuid AND is_default)
        ) AS id) AS chosen
        LEFT JOIN campaign ON campaign.id = chosen.id`;
      if (route === undefined || route.campaignId === null) {
        throw new Error('The workspace has no default campaign');
      }
      const { campaignId, ...others } = route;
      return withoutNulls({ campaignId, ...others });
    },

    async addLandingPages(pages, capPerKey) {
      const counts = await prisma.landingPage.groupBy({
        by: ['workspaceId'],
        where: {
          workspaceId: { in: [...new Set(pages.map(({ workspaceId }) => workspaceId))] },
          pendingSince: null,
        },
        _count: true,
      });
      const room = new Map(
        counts.map(({ workspaceId, _count }) => [workspaceId, caps.landingPages.max - _count]),
      );
      const fitting = pages.filter(({ workspaceId }) => {
        const left = room.get(workspaceId) ?? caps.landingPages.max;
        room.set(workspaceId, left - 1);
        return left > 0;
      });
      await prisma.landingPage.createMany({
        data: await rowsOfNewPages(prisma, fitting, capPerKey),
        skipDuplicates: true,
      });
    },

    async create(campaign) {
      const { workspaceId } = campaign;
      try {
        return await ofWorkspace(workspaceId, async (tx) => {
          await lockWorkspace(tx, workspaceId);
          requireRoom('campaigns', await tx.campaign.count({ where: { workspaceId } }));
          if (campaign.isDefault) await removeDefault(tx, workspaceId);
          const data = {
            id: newId(),
            ...campaign,
            duplicateWindowSeconds: campaign.duplicateWindowSeconds ?? null,
            approveAfterSeconds: campaign.approveAfterSeconds ?? null,
          };
          return toCampaign(await tx.campaign.create({ data, omit: omitted }));
        });
      } catch (error) {
        if (isUniqueViolation(error)) {
          throw new LeadsError('conflict', {
            message: 'A campaign with this code already exists',
            fields: [{ at: 'body', path: '/code', reason: 'is used by another campaign' }],
          });
        }
        throw error;
      }
    },

    async update(workspaceId, id, decide) {
      return ofWorkspace(workspaceId, async (tx) => {
        await lockWorkspace(tx, workspaceId);
        const campaign = await tx.campaign.findFirst({ where: { workspaceId, id }, omit: omitted });
        if (campaign === null) return undefined;
        const {
          isDefault,
          name,
          status,
          duplicateWindowSeconds,
          approveAfterSeconds,
          retentionDays,
          assigneeIds,
          payout,
        } = decide(toCampaign(campaign));
        const becomesDefault = isDefault === true && !campaign.isDefault;
        if (becomesDefault) await removeDefault(tx, workspaceId);
        const data = {
          ...(name !== undefined && { name }),
          ...(status !== undefined && { status }),
          ...(duplicateWindowSeconds !== undefined && { duplicateWindowSeconds }),
          ...(approveAfterSeconds !== undefined && { approveAfterSeconds }),
          ...(retentionDays !== undefined && { retentionDays }),
          ...(assigneeIds !== undefined && { assigneeIds: [...assigneeIds] }),
          ...(payout !== undefined && {
            payoutAmount: payout?.amount ?? null,
            payoutCurrency: payout?.currency ?? null,
          }),
          ...(becomesDefault && { isDefault: true }),
        };
        return toCampaign(await tx.campaign.update({ where: { id }, data, omit: omitted }));
      });
    },

    async list(workspaceId, status) {
      const campaigns = await ofWorkspace(workspaceId, (tx) =>
        tx.campaign.findMany({
          where: { workspaceId, ...(status !== undefined && { status }) },
          omit: omitted,
          orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
        }),
      );
      return campaigns.map(toCampaign);
    },

    async findLandingPage(workspaceId, page) {
      const found = await ofWorkspace(workspaceId, (tx) =>
        tx.landingPage.findFirst({ where: { workspaceId, ...page }, select: landingPageColumns }),
      );
      return found === null ? undefined : toLandingPage(found);
    },

    async createLandingPage({ workspaceId, name, campaignId = null }) {
      try {
        const data = { id: newId(), workspaceId, name, campaignId };
        return await ofWorkspace(workspaceId, async (tx) => {
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
        });
      } catch (error) {
        if (isUniqueViolation(error)) {
          throw new LeadsError('conflict', {
            message: 'A landing page with this name already exists',
            fields: [{ at: 'body', path: '/name', reason: 'is used by another landing page' }],
          });
        }
        throw error;
      }
    },

    async mapLandingPage(workspaceId, page, campaignId) {
      return ofWorkspace(workspaceId, async (tx) => {
        // A dismissal depends on the mapping.
        await lockWorkspace(tx, workspaceId);
        const [mapped] = await tx.landingPage.updateManyAndReturn({
          where: { workspaceId, ...page },
          data: { campaignId: campaignId ?? null, ...approved },
          select: landingPageColumns,
        });
        return mapped && toLandingPage(mapped);
      });
    },

    async dismissLandingPage(workspaceId, page, isDismissed) {
      return ofWorkspace(workspaceId, async (tx) => {
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
      });
    },

    async listLandingPages(
      workspaceId,
      { mapped, campaignId, state = 'approved', userId },
      { limit, after },
    ) {
      const own = userId === undefined ? undefined : await ownLandingPages(workspaceId, userId);
      const pages = await ofWorkspace(workspaceId, (tx) =>
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
      );
      return pages.map(toLandingPage);
    },

    async countLandingPages(workspaceId) {
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
      const counts = await select<{ name: string; leads: number }>(
        Prisma.sql`
        SELECT page.name, (
          SELECT count(*) FILTER (WHERE ${userId ?? null}::uuid IS NULL OR user_id = ${userId ?? null}::uuid)::int
          FROM (
            SELECT user_id FROM lead_of_workspace
            WHERE workspace_id = ${workspaceId}::uuid AND lp_name IS NOT NULL
              AND left(lp_name, 255) = page.name AND lp_name = page.name
            ORDER BY created_at DESC, id DESC
            LIMIT ${newest}
          ) AS newest
        ) AS leads
        FROM unnest(${[...landingPages]}::text[]) AS page (name)`,
        { workspaceId },
      );
      return new Map(counts.map(({ name, leads }) => [name, leads]));
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

/** Returns a campaign of a row. The amount becomes text in decimal notation, without zeros at its end. */
function toCampaign<
  Row extends { payoutAmount: { toFixed(): string } | null; payoutCurrency: string | null },
>({ payoutAmount, payoutCurrency, ...row }: Row) {
  const payout =
    payoutAmount === null || payoutCurrency === null
      ? null
      : { amount: payoutAmount.toFixed(), currency: payoutCurrency };
  return withoutNulls({ ...row, payout });
}

async function removeDefault(tx: Transaction, workspaceId: string): Promise<void> {
  await tx.campaign.updateMany({ where: { workspaceId, isDefault: true }, data: { isDefault: false } });
}

import type { Campaign, CampaignStore } from '../campaign/campaign-store.ts';
import { requireRoom } from '../limits/caps.ts';
import { newId } from '../uuid.ts';
import type { Database, Transaction } from './client.ts';
import { orConflict } from './database-error.ts';
import { Prisma } from './generated/client.ts';
import { lockWorkspace } from './lock-workspace.ts';
import { withoutNulls } from './without-nulls.ts';

/**
 * Omits the token, which is a secret: it gives access to the integration page. Only the store of integration pages reads
 * it. The turn of the assignees is a detail of the trigger that assigns new leads.
 */
const omitted = { integrationToken: true, assigneeTurn: true } as const;

/** Campaigns in Postgres. */
export function createCampaignStore({ select, transaction }: Database): CampaignStore {
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

    async create(campaign) {
      const { workspaceId } = campaign;
      const created = transaction(
        async (tx) => {
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
        },
        { workspaceId },
      );
      return orConflict(created, {
        message: 'A campaign with this code already exists',
        fields: [{ at: 'body', path: '/code', reason: 'is used by another campaign' }],
      });
    },

    async update(workspaceId, id, decide) {
      return transaction(
        async (tx) => {
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
        },
        { workspaceId },
      );
    },

    async list(workspaceId, status) {
      const campaigns = await transaction(
        (tx) =>
          tx.campaign.findMany({
            where: { workspaceId, ...(status !== undefined && { status }) },
            omit: omitted,
            orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
          }),
        { workspaceId },
      );
      return campaigns.map(toCampaign);
    },
  };
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

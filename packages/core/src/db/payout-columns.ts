import { Prisma } from './generated/client.ts';

/* Payouts of leads in SQL. Amounts leave the database as text, because a number of JavaScript would round them. */

/** The payout that a row of `lead` stores, as JSON. */
export const payoutOf = (lead: 'lead' | 'changed') =>
  Prisma.raw(`payout_json(${lead}.payout_amount, ${lead}.payout_currency, ${lead}.payout_rule)`);

/** Selects from the rules for a row of `lead`: the payout of its publisher, else that of its campaign. */
const fromRules = (selected: string) => `(
  SELECT ${selected}
  FROM campaign LEFT JOIN publisher_payout AS own ON own.campaign_id = campaign.id AND own.user_id = lead.user_id
  WHERE campaign.id = lead.campaign_id AND (own.amount IS NOT NULL OR campaign.payout_amount IS NOT NULL)
)`;
const [amount, currency, rule] = [
  'coalesce(own.amount, campaign.payout_amount)',
  'coalesce(own.currency, campaign.payout_currency)',
  `CASE WHEN own.amount IS NULL THEN 'campaign' ELSE 'publisher' END`,
];

/** The payout of a row of `lead` by the present rules, as JSON. */
export const expectedPayout = Prisma.raw(
  fromRules(`payout_json(${amount}, ${currency}, (${rule})::payout_rule)`),
);

/** The payout that a row of `lead` shows, as text: `12.5 EUR campaign`. */
export const shownPayoutText = `CASE
  WHEN status = 'Trashed' THEN NULL
  WHEN payout_rule IS NOT NULL THEN concat_ws(' ', trim_scale(payout_amount), payout_currency, payout_rule)
  WHEN status = 'OnHold' THEN ${fromRules(`concat_ws(' ', trim_scale(${amount}), ${currency}, ${rule})`)}
END`;

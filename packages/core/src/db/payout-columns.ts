import { Prisma } from './generated/client.ts';

/* Payouts of leads in SQL. Amounts leave the database as text, because a number of JavaScript would round them. */

/** The payout that a row of `lead` stores, as JSON. */
export const storedPayout = Prisma.raw(
  'payout_json(lead.payout_amount, lead.payout_currency, lead.payout_rule)',
);

const byRules = 'FROM payout_by_rules(lead.campaign_id, lead.user_id)';

/** The payout of a row of `lead` by the present rules, as JSON. */
export const expectedPayout = Prisma.raw(`(SELECT payout_json(amount, currency, rule) ${byRules})`);

/** The payout that a row of `lead` shows, as text: `12.5 EUR campaign`. */
export const shownPayoutText = `CASE
  WHEN status = 'Trashed' THEN NULL
  WHEN payout_rule IS NOT NULL THEN concat_ws(' ', trim_scale(payout_amount), payout_currency, payout_rule)
  WHEN status = 'OnHold' THEN (SELECT concat_ws(' ', trim_scale(amount), currency, rule) ${byRules})
END`;

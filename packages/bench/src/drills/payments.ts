import { createWorkspaceStore } from '@leads/core/db';
import { issueCredentials } from '../stack/credentials.ts';
import { openForBench, query, withClient } from '../stack/database.ts';
import { waitUntil } from '../stack/wait-until.ts';
import type { Drill, Scenario } from './drill.ts';
import type { DrillStack } from './drill-stack.ts';

const timeoutMs = 60_000;
const pollMs = 5;
const today = () => new Date().toISOString().slice(0, 10);

/** When an instance is killed: after a commit, or while a statement of its transaction waits for a lock. */
type Moment = 'after a commit' | 'in a transaction';

/**
 * Kills the only running instance of the CRM while it pays the leads of a payment, and while it approves leads at the end of
 * their hold time. Each time, the other instance continues.
 */
export const killPayingInstances: Omit<Scenario, 'title'> = {
  stack: { relays: 2 },
  async run(drill) {
    const { stack, isShort } = drill;
    const leads = isShort ? 2_000 : 10_000;
    const owner = await storeLeads(stack, leads);
    const ofOwner = `workspace_id = '${owner.workspaceId}'`;
    const both: Moment[] = ['after a commit', 'in a transaction'];

    await stack.relays[1]?.kill();
    const paymentId = await pay(stack, owner);
    const paid = `lead WHERE ${ofOwner} AND status = 'Paid'`;
    const moments = isShort ? both.slice(0, 1) : [...both, ...both];
    const paidBefore = await killInTheMiddle(drill, { moments, counted: paid, leads });
    await waitFor(async () => (await stateOf(stack, paymentId)) === 'paid', 'The payment does not end');

    await query(
      stack.databaseUrl,
      `UPDATE lead SET approve_at = now() WHERE workspace_id = $1 AND status = 'OnHold'`,
      [owner.workspaceId],
    );
    const approvedBefore = await killInTheMiddle(drill, {
      moments: isShort ? both.slice(1) : [...both, ...both],
      counted: `lead_change WHERE reason = 'hold_ended'`,
      leads,
    });
    const endedAt = Date.now();
    const waiting = `lead WHERE ${ofOwner} AND status = 'OnHold'`;
    await waitFor(async () => (await countOf(stack, waiting)) === 0, 'Leads still wait for their approval');
    for (const relay of stack.relays) await relay.start();
    await assertEachOnce(stack, paymentId, leads);
    return {
      endedAt,
      notes: () => [
        { name: 'paid at the kills', found: `${paidBefore.join(', ')} of ${leads}` },
        { name: 'approved at the kills', found: `${approvedBefore.join(', ')} of ${leads}` },
        { name: 'paid once, approved once', found: `${leads}, ${leads}`, required: `${leads}, ${leads}` },
      ],
    };
  },
};

interface Owner {
  readonly workspaceId: string;
  readonly userId: string;
}

/** Stores approved leads, and as many leads with a hold time, of a workspace without webhooks. */
async function storeLeads({ databaseUrl }: DrillStack, leads: number): Promise<Owner> {
  await using database = openForBench(databaseUrl);
  const { user, workspace } = await createWorkspaceStore(database).addMember({
    email: 'payments@example.com',
    name: 'Payments',
    role: 'owner',
    workspace: { slug: 'payments', name: 'Payments' },
  });
  await query(
    databaseUrl,
    `UPDATE campaign SET payout_amount = 1.25, payout_currency = 'EUR', approve_after_seconds = 60
    WHERE workspace_id = $1`,
    [workspace.id],
  );
  for (const status of ['Approved', 'OnHold']) {
    await query(
      databaseUrl,
      `INSERT INTO lead (
        id, workspace_id, campaign_id, user_id, source, status, name, phone, s1, words, created_at, updated_at, approve_at
      )
      SELECT gen_random_uuid(), workspace_id, id, $2, 'crm', $3::lead_status, 'Grace Hopper', '+1 202 555 0143',
        $3 || '-' || n, ARRAY['grace', 'hopper'], now() - interval '10 minutes', now(),
        CASE $3 WHEN 'OnHold' THEN now() + interval '1 day' END
      FROM campaign, generate_series(1, $4) AS n WHERE workspace_id = $1`,
      [workspace.id, user.id, status, leads],
    );
  }
  return { workspaceId: workspace.id, userId: user.id };
}

/** Begins a payment of all approved leads. @returns its id. */
async function pay({ relays, databaseUrl }: DrillStack, owner: Owner): Promise<string> {
  const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  const response = await fetch(`${relays[0]?.process.url}/api/v1/payments`, {
    method: 'POST',
    headers: { ...(await issueCredentials(databaseUrl, owner)), 'Content-Type': 'application/json' },
    body: JSON.stringify({
      userId: owner.userId,
      from: yesterday,
      to: today(),
      currency: 'EUR',
      date: today(),
    }),
  });
  if (!response.ok)
    throw new Error(`The payment is answered with ${response.status}: ${await response.text()}`);
  return ((await response.json()) as { payment: { id: string } }).payment.id;
}

/**
 * Sends SIGKILL to the running instance when it has changed some of the leads, and starts the other one.
 *
 * @param counted the changed rows, after FROM.
 * @returns the number of changed leads after each kill.
 */
async function killInTheMiddle(
  { stack, onProgress }: Drill,
  { moments, counted, leads }: { moments: readonly Moment[]; counted: string; leads: number },
): Promise<number[]> {
  const changedAtKills: number[] = [];
  for (const moment of moments) {
    const running = stack.relays.find(({ isRunning }) => isRunning);
    const other = stack.relays.find((relay) => relay !== running);
    const before = changedAtKills.at(-1) ?? 0;
    const changed = await withClient(stack.databaseUrl, async (client) => {
      const count = async () => {
        const { rows } = await client.query<{ rows: number }>(
          `SELECT count(*)::float8 AS rows FROM ${counted}`,
        );
        return rows[0]?.rows ?? 0;
      };
      await waitFor(async () => (await count()) > before, 'No lead is changed', pollMs);
      if (moment === 'in a transaction') {
        // The trigger that counts payouts writes to this table. No other change of this drill has payouts.
        await client.query('BEGIN; LOCK TABLE payout_tally_entry IN EXCLUSIVE MODE');
        // On another connection, because a transaction sees one snapshot of the activity.
        const isWaiting = async () => (await query(stack.databaseUrl, waitingChange)).length > 0;
        await waitFor(isWaiting, 'No change waits for the lock');
      }
      await running?.kill();
      if (moment === 'in a transaction') await client.query('ROLLBACK');
      return count();
    });
    onProgress(`  killed ${moment}, after ${changed} of ${leads} leads`);
    if (changed === leads) throw new Error('All leads were changed before the kill');
    changedAtKills.push(changed);
    await other?.start();
  }
  return changedAtKills;
}

/** The statement that changes the statuses of a step. The aggregator waits for the table, too. */
const waitingChange = `
  SELECT FROM pg_locks JOIN pg_stat_activity USING (pid)
  WHERE NOT granted AND relation = 'payout_tally_entry'::regclass AND query LIKE '%WITH sent AS%'`;

async function waitFor(condition: () => Promise<boolean>, failure: string, intervalMs = 100): Promise<void> {
  if (!(await waitUntil(condition, timeoutMs, intervalMs))) throw new Error(failure);
}

async function stateOf({ databaseUrl }: DrillStack, paymentId: string): Promise<string | undefined> {
  const [row] = await query<{ state: string }>(databaseUrl, 'SELECT state FROM payment WHERE id = $1', [
    paymentId,
  ]);
  return row?.state;
}

async function countOf({ databaseUrl }: DrillStack, rows: string): Promise<number> {
  const [row] = await query<{ count: number }>(databaseUrl, `SELECT count(*)::float8 AS count FROM ${rows}`);
  return row?.count ?? 0;
}

/** Checks that each lead was changed in one entry of its history. @throws Error if one was not. */
async function assertEachOnce({ databaseUrl }: DrillStack, paymentId: string, leads: number): Promise<void> {
  const [found] = await query(
    databaseUrl,
    `SELECT payment.leads AS paid, payment.amount::float8 AS amount, paid.entries AS "paidEntries",
      paid.leads AS "paidLeads", approved.entries AS "approvedEntries", approved.leads AS "approvedLeads"
    FROM payment,
      LATERAL (SELECT count(*)::int AS entries, count(DISTINCT lead_id)::int AS leads FROM lead_change JOIN lead ON id = lead_id
        WHERE to_status = 'Paid' AND reason = 'Payment ' || payment.number AND status = 'Paid' AND lead.version = 2) AS paid,
      LATERAL (SELECT count(*)::int AS entries, count(DISTINCT lead_id)::int AS leads FROM lead_change JOIN lead ON id = lead_id
        WHERE reason = 'hold_ended' AND status = 'Approved' AND lead.version = 2) AS approved
    WHERE payment.id = $1`,
    [paymentId],
  );
  const counts = { paid: leads, amount: leads * 1.25, paidEntries: leads, paidLeads: leads };
  const expected = { ...counts, approvedEntries: leads, approvedLeads: leads };
  if (JSON.stringify(found) !== JSON.stringify(expected)) {
    throw new Error(`${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`);
  }
}

import { issueApiKey } from '@leads/core/credential';
import { createCredentialStore } from '@leads/core/db';
import { assertAll200, ratesOf } from '../load/load-process.ts';
import { withProcessorTime } from '../process-tree.ts';
import { checkpoint, openForBench, query, removeLeads } from '../stack/database.ts';
import { measureInTurn, median, medianRatio } from '../statistics.ts';
import { type Bench, openIntake, usualConnections } from './bench.ts';
import { warmUpMs } from './targets.ts';

const without = 'without payouts';
/**
 * The compared schemas and campaigns. `without payouts` has no check and no index of payouts and hold times. It is
 * measured twice: the ratios of the second show how much equal subjects differ.
 */
const subjects = [without, 'no rule', 'a payout', 'a payout and a hold time', `${without} again`] as const;
type Subject = (typeof subjects)[number];

const isWithout = (subject: Subject) => subject.startsWith(without);

/**
 * Measures the rate of the intake with payouts and hold times, and without their check and their index. One process of the
 * intake and one database serve all subjects, because processes of the same release differ by several percent.
 */
export async function measurePayoutCost(bench: Bench) {
  const { load, peakLoad, postgres, rounds, durationMs } = bench;
  await using intake = await openIntake(bench, 'payout_cost');
  const { databaseUrl, service, target } = intake;
  const keys = await createCampaigns(databaseUrl);
  const schema = await readSchema(databaseUrl);
  const measured = await measureInTurn(subjects, rounds, async (subject) => {
    await removeLeads(databaseUrl);
    await query(databaseUrl, schema.remove);
    if (!isWithout(subject)) await query(databaseUrl, schema.add);
    await checkpoint(postgres);
    const headers = { API_KEY: keys.get(isWithout(subject) ? 'no rule' : subject) ?? '' };
    const options = { ...target, headers, connections: usualConnections };
    await load.send({ ...options, durationMs: warmUpMs(bench) });
    const { result, processorUs } = await withProcessorTime({ service, postgres }, () =>
      peakLoad.send({ ...options, durationMs }),
    );
    const sent = assertAll200(result);
    await assertHoldTimes(databaseUrl, subject);
    return { ...sent, postgresUs: processorUs.postgres / (sent.statuses['200'] ?? 0) };
  });
  const [reference = []] = measured;
  return subjects.map((subject, at) => {
    const figures = measured[at] ?? [];
    return {
      subject,
      leadsPerSecond: median(ratesOf(figures)),
      rateRatio: medianRatio(ratesOf(figures), ratesOf(reference)),
      postgresRatio: medianRatio(
        figures.map(({ postgresUs }) => postgresUs),
        reference.map(({ postgresUs }) => postgresUs),
      ),
      ...(!isWithout(subject) && { required: 'rate ratio 0.97 or more' }),
    };
  });
}

/** Creates a campaign for each kind of rules. @returns an API key for each, whose leads go to the campaign. */
async function createCampaigns(databaseUrl: string): Promise<Map<string, string>> {
  const campaigns = await query<{ subject: string; workspaceId: string; userId: string; id: string }>(
    databaseUrl,
    `INSERT INTO campaign (
      id, workspace_id, code, name, is_default, updated_at, payout_amount, payout_currency, approve_after_seconds
    )
    SELECT gen_random_uuid(), workspace_id, 'C' || place, subject, false, now(),
      CASE WHEN place > 1 THEN 12.5 END, CASE WHEN place > 1 THEN 'EUR' END, CASE WHEN place > 2 THEN 86400 END
    FROM member, unnest($1::text[]) WITH ORDINALITY AS each (subject, place)
    RETURNING name AS subject, workspace_id AS "workspaceId", id,
      (SELECT user_id FROM member WHERE member.workspace_id = campaign.workspace_id) AS "userId"`,
    [subjects.filter((subject) => !isWithout(subject))],
  );
  await using database = openForBench(databaseUrl);
  const store = createCredentialStore(database);
  const keys = new Map<string, string>();
  for (const { subject, id: defaultCampaignId, ...member } of campaigns) {
    const issue = { name: subject, scope: 'intake', defaultCampaignId } as const;
    keys.set(subject, (await issueApiKey(store, member, issue)).apiKey);
  }
  return keys;
}

/** Returns the statements that remove and add the check and the index of payouts and hold times. */
async function readSchema(databaseUrl: string): Promise<{ remove: string; add: string }> {
  const [index, check] = ['lead_by_approval_idx', 'lead_payout_and_hold_check'];
  const [row] = await query<{ index: string; check: string }>(
    databaseUrl,
    `SELECT pg_get_indexdef($1::regclass) AS index, pg_get_constraintdef(oid) AS check
    FROM pg_constraint WHERE conrelid = 'lead'::regclass AND conname = $2`,
    [index, check],
  );
  if (row === undefined) throw new Error(`The table of leads has no ${check}`);
  return {
    remove: `DROP INDEX IF EXISTS ${index}; ALTER TABLE lead DROP CONSTRAINT IF EXISTS ${check}`,
    add: `${row.index}; ALTER TABLE lead ADD CONSTRAINT ${check} ${row.check}`,
  };
}

/** Checks which leads have a hold time. @throws Error if the leads are not those of the subject. */
async function assertHoldTimes(databaseUrl: string, subject: Subject): Promise<void> {
  const [row] = await query<{ leads: number; timed: number }>(
    databaseUrl,
    'SELECT count(*)::float8 AS leads, count(approve_at)::float8 AS timed FROM lead',
  );
  const expected = subject === 'a payout and a hold time' ? row?.leads : 0;
  if (row === undefined || row.leads === 0 || row.timed !== expected) {
    throw new Error(`${subject}: ${row?.timed} of ${row?.leads} leads have a hold time`);
  }
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { issueApiKey } from '@leads/core/credential';
import { createCredentialStore } from '@leads/core/db';
import { migrationsDir } from '@leads/local-stack/repository';
import { assertAll200 } from '../load/load-process.ts';
import { processorTimeUs } from '../process-tree.ts';
import { checkpoint, openForBench, query, removeLeads } from '../stack/database.ts';
import { measureInTurn, medianFigures, medianRatio } from '../statistics.ts';
import { type Bench, openIntake, usualConnections } from './bench.ts';
import { warmUpMs } from './targets.ts';

/**
 * The compared schemas and campaigns. `without payouts` is the schema without the work of payouts and hold times. It is
 * measured twice: the ratios of the second show how much equal subjects differ.
 */
const subjects = [
  'without payouts',
  'no rule',
  'a payout',
  'a payout and a hold time',
  'without payouts again',
] as const;
type Subject = (typeof subjects)[number];

const required = 'rate ratio 0.97 or more';
/** The last migration before payouts and hold times that changes the trigger of inserts. */
const earlierMigration = '20261123204917_lead_work';
const insertTrigger = 'note_inserted_leads';

/**
 * Measures the rate of the intake with payouts, and on the same schema without their work. That has no checks and no index
 * of payouts and hold times, and the earlier trigger of inserts. One process of the intake and one database serve all subjects, because
 * processes of the same release differ by several percent.
 */
export async function measurePayoutCost(bench: Bench) {
  const { load, peakLoad, postgres, rounds, durationMs, onProgress } = bench;
  await using intake = await openIntake(bench, 'payout_cost');
  const { databaseUrl, service, target } = intake;
  const keys = await createCampaigns(databaseUrl);
  const schemas = await readSchemas(databaseUrl);
  const measured = await measureInTurn(subjects, rounds, async (subject) => {
    await removeLeads(databaseUrl);
    await query(databaseUrl, isWithout(subject) ? schemas.without : schemas.present);
    await checkpoint(postgres);
    const headers = { API_KEY: keys.get(subject) ?? keys.get('no rule') ?? '' };
    const options = { ...target, headers, connections: usualConnections };
    await load.send({ ...options, durationMs: warmUpMs(bench) });
    const before = { service: processorTimeUs(service.pid), postgres: processorTimeUs(postgres.pid) };
    const sent = assertAll200(await peakLoad.send({ ...options, durationMs }));
    const leads = sent.statuses['200'] ?? 0;
    const postgresUs = processorTimeUs(postgres.pid) - before.postgres;
    const serviceUs = processorTimeUs(service.pid) - before.service;
    await assertHoldTimes(databaseUrl, subject);
    onProgress(`  ${subject}: ${sent.requestsPerSecond.toFixed(0)} leads/s`);
    return {
      leadsPerSecond: sent.requestsPerSecond,
      p99Ms: sent.p99Ms,
      serviceUsPerLead: serviceUs / leads,
      postgresUsPerLead: postgresUs / leads,
    };
  });
  const [without = []] = measured;
  return subjects.map((subject, at) => {
    const figures = measured[at] ?? [];
    const ratioOf = (name: 'leadsPerSecond' | 'postgresUsPerLead') =>
      medianRatio(
        figures.map((round) => round[name]),
        without.map((round) => round[name]),
      );
    return {
      subject,
      ...medianFigures(figures),
      rateRatio: ratioOf('leadsPerSecond'),
      postgresRatio: ratioOf('postgresUsPerLead'),
      ...(!isWithout(subject) && { required }),
    };
  });
}

const isWithout = (subject: Subject) => subject.startsWith('without');

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
    const { apiKey } = await issueApiKey(store, member, {
      name: subject,
      scope: 'intake',
      defaultCampaignId,
    });
    keys.set(subject, apiKey);
  }
  return keys;
}

/** Returns the statements that remove the work of payouts and hold times, and those that restore the present schema. */
async function readSchemas(databaseUrl: string): Promise<{ without: string; present: string }> {
  const [index] = await query<{ definition: string }>(
    databaseUrl,
    `SELECT indexdef AS definition FROM pg_indexes WHERE indexname = 'lead_by_approval_idx'`,
  );
  const checks = await query<{ name: string; definition: string }>(
    databaseUrl,
    `SELECT conname AS name, pg_get_constraintdef(oid) AS definition FROM pg_constraint
    WHERE conrelid = 'lead'::regclass AND conname = 'lead_payout_and_hold_check'`,
  );
  const [trigger] = await query<{ definition: string }>(
    databaseUrl,
    `SELECT pg_get_functiondef('${insertTrigger}'::regproc) AS definition`,
  );
  const migration = readFileSync(join(migrationsDir, earlierMigration, 'migration.sql'), 'utf8');
  const [earlier] =
    new RegExp(`CREATE OR REPLACE FUNCTION "${insertTrigger}"[^]*?\\n\\$\\$;`).exec(migration) ?? [];
  if (index === undefined || trigger === undefined || earlier === undefined || checks.length !== 1) {
    throw new Error('The schema has other triggers, indexes or checks of payouts and hold times');
  }
  return {
    without: `
      DROP INDEX IF EXISTS lead_by_approval_idx;
      ${checks.map(({ name }) => `ALTER TABLE lead DROP CONSTRAINT IF EXISTS ${name};`).join('\n')}
      DROP TRIGGER IF EXISTS lead_payout_updated ON lead;
      ${earlier}
      ALTER FUNCTION ${insertTrigger}() SECURITY DEFINER SET search_path = public, pg_temp;`,
    present: `
      ${index.definition.replace('INDEX', 'INDEX IF NOT EXISTS')};
      ${checks
        .map(
          ({ name, definition }) =>
            `ALTER TABLE lead DROP CONSTRAINT IF EXISTS ${name}, ADD CONSTRAINT ${name} ${definition};`,
        )
        .join('\n')}
      ${trigger.definition};`,
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

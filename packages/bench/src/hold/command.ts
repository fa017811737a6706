import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@leads/local-stack/processes/postgres';
import type pg from 'pg';
import { defineCommand, integer, size } from '../command.ts';
import { assertAll200, startLoadProcess } from '../load/load-process.ts';
import { crmLeadsPath } from '../load/requests.ts';
import { createOwner } from '../stack/credentials.ts';
import { checkpoint, createMigratedDatabase, query, removeLeads, withClient } from '../stack/database.ts';
import { startProgram } from '../stack/programs.ts';
import { temporaryDirectory } from '../stack/temporary-directory.ts';
import { waitUntil } from '../stack/wait-until.ts';
import { medianFigures } from '../statistics.ts';

const connections = 16;
/** How long creates come at least before they are measured. */
const shortestWarmUpMs = 10_000;
/** How long creates are measured before and after the approvals. */
const aloneMs = 10_000;
const longestMs = 300_000;
/** The leads of one insert, and the time that is planned for each insert on a slow machine. */
const chunk = 10_000;
const chunkMs = 6_000;
const preparationMs = 40_000;

/** The due leads. The creates of the load are not due before the end. */
const waiting = `lead WHERE approve_at <= now() AND status = 'OnHold' AND hold_reason IS NULL`;

export const hold = defineCommand({
  summary: 'measures how fast due leads are approved, and what that costs creates',
  options: {
    leads: size('100k', 'leads that are due at the same time'),
    rounds: integer(100, '3', 'rounds'),
    rate: integer(
      10_000,
      '200',
      'creates a second over the API of the CRM, before, meanwhile and afterwards',
    ),
  },
  async run({ leads, rounds, rate }, { dataDir, onProgress }) {
    await using temporary = temporaryDirectory(dataDir);
    await using postgres = await startPostgres({ dataDir: join(temporary.path, 'postgres') });
    using load = startLoadProcess();
    const databaseUrl = await createMigratedDatabase(postgres, 'hold');
    const headers = await createOwner(databaseUrl);
    await using first = await startProgram('crm', { databaseUrl });
    // A second instance approves leads as well, and serves no requests.
    await using _second = await startProgram('crm', { databaseUrl });
    const target = {
      port: first.port,
      path: crmLeadsPath,
      headers,
      connections,
      rate,
      campaignCode: 'default',
    };

    const measured = [];
    for (let round = 0; round < rounds; round++) {
      await removeLeads(databaseUrl);
      onProgress(`Round ${round + 1}: storing ${leads} leads`);
      const dueAt = new Date(Date.now() + preparationMs + (leads / chunk) * chunkMs);
      await fillWaiting(databaseUrl, leads, dueAt);
      await waitUntil(async () => (await numberOf(databaseUrl, 'lead_outbox')) === 0, longestMs);
      await query(databaseUrl, 'VACUUM ANALYZE lead');
      await checkpoint(postgres);
      const measureAlone = async () => assertAll200(await load.send({ ...target, durationMs: aloneMs }));
      // After a checkpoint, Postgres writes whole pages, and V8 compiles the code of a new service. Both slow down creates.
      const warmUpMs = dueAt.getTime() - Date.now() - aloneMs;
      if (warmUpMs < shortestWarmUpMs) throw new Error('The leads were due before they were stored');
      await load.send({ ...target, durationMs: warmUpMs });
      const before = await measureAlone();
      const start = performance.now();
      // An instance looks for due leads every 5 s. Until then, creates are still alone.
      await waitUntil(async () => (await numberOf(databaseUrl, waiting)) < leads, longestMs, 100);
      const meanwhile = load.send({ ...target, durationMs: longestMs });
      // A new connection for each check, or a count of all due leads, would use the processor that is measured.
      const isDone = await withClient(databaseUrl, (client) =>
        waitUntil(async () => !(await isAnyDue(client)), longestMs, 250),
      );
      const seconds = (performance.now() - start) / 1_000;
      load.end();
      const during = assertAll200(await meanwhile);
      if (!isDone) throw new Error('Leads still wait for their approval');
      await assertEachOnce(databaseUrl, leads);
      await waitUntil(async () => (await numberOf(databaseUrl, 'lead_outbox')) === 0, longestMs);
      const after = await measureAlone();

      const aloneP99Ms = (before.p99Ms + after.p99Ms) / 2;
      const figures = {
        seconds,
        leadsPerSecond: leads / seconds,
        aloneP50Ms: (before.p50Ms + after.p50Ms) / 2,
        duringP50Ms: during.p50Ms,
        beforeP99Ms: before.p99Ms,
        duringP99Ms: during.p99Ms,
        afterP99Ms: after.p99Ms,
        p99Ratio: during.p99Ms / aloneP99Ms,
        /** How much equal measurements differ. */
        aloneRatio: after.p99Ms / before.p99Ms,
      };
      onProgress(
        `  ${seconds.toFixed(1)} s, p99 ${before.p99Ms.toFixed(1)}, ${during.p99Ms.toFixed(1)} and ${after.p99Ms.toFixed(1)} ms`,
      );
      measured.push(figures);
    }
    return {
      figures: {
        cores: availableParallelism(),
        node: process.version,
        hold: [{ leads, ...medianFigures(measured), required: '60 s or less, p99 ratio 1.2 or less' }],
      },
    };
  },
});

/** Stores leads on hold that are all due at one time, with the triggers of the service. */
async function fillWaiting(databaseUrl: string, leads: number, dueAt: Date): Promise<void> {
  await query(databaseUrl, 'UPDATE campaign SET approve_after_seconds = 3600');
  for (let stored = 0; stored < leads; stored += chunk) {
    await query(
      databaseUrl,
      `INSERT INTO lead (
        id, workspace_id, campaign_id, user_id, source, status, name, phone, s1, words, created_at, updated_at, approve_at
      )
      SELECT uuidv7(), campaign.workspace_id, campaign.id, member.user_id, 'intake', 'OnHold', 'Grace Hopper',
        '+1 202 555 0143', 'click-' || n, ARRAY['grace', 'hopper'], now() - interval '2 hours', now(), $2
      FROM campaign JOIN member ON member.workspace_id = campaign.workspace_id, generate_series(1, $1) AS n`,
      [Math.min(chunk, leads - stored), dueAt.toISOString()],
    );
  }
}

async function numberOf(databaseUrl: string, sql: string): Promise<number> {
  const [row] = await query<{ rows: number }>(databaseUrl, `SELECT count(*)::float8 AS rows FROM ${sql}`);
  return row?.rows ?? 0;
}

async function isAnyDue(client: pg.Client): Promise<boolean> {
  const { rowCount } = await client.query(`SELECT FROM ${waiting} ORDER BY approve_at LIMIT 1`);
  return rowCount !== 0;
}

/** Checks that each lead was approved in one change. @throws Error if one was not. */
async function assertEachOnce(databaseUrl: string, leads: number): Promise<void> {
  const approved = await numberOf(databaseUrl, `lead WHERE status = 'Approved' AND version = 2`);
  const changes = await numberOf(databaseUrl, `lead_change WHERE reason = 'hold_ended'`);
  if (approved !== leads || changes !== leads) {
    throw new Error(`${approved} of ${leads} leads are approved, in ${changes} changes`);
  }
}

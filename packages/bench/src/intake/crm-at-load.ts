import { DisposeStack } from '@leads/core/dispose-stack';
import { assertAll200, type LoadOptions, ratesOf, summarizeLoads } from '../load/load-process.ts';
import { crmLeadsPath, referenceOwner, submitPath } from '../load/requests.ts';
import { withProcessorTime } from '../process-tree.ts';
import { createOwner } from '../stack/credentials.ts';
import { checkpoint, query, removeLeads } from '../stack/database.ts';
import { type Program, startProgram } from '../stack/programs.ts';
import { measureInTurn, median, medianRatio } from '../statistics.ts';
import { type Bench, usualConnections } from './bench.ts';
import { startIntakeReference, warmUpMs } from './targets.ts';

/**
 * Returns the number of leads whose status changes: 5,000, and fewer in a short measurement. They are many times the
 * connections, so a connection never waits for another that changes the same lead.
 */
const changedLeads = ({ durationMs }: Bench) =>
  Math.min(5_000, Math.max(16 * usualConnections, 2 * durationMs));

/** The required ratios of the CRM to its references. */
const requirements = [
  {
    work: 'create',
    figure: 'requests/s',
    connections: usualConnections,
    to: 'prisma',
    required: '2.5 or more',
  },
  { work: 'create', figure: 'requests/s', connections: 1, to: 'prisma', required: '1 or more' },
  { work: 'create', figure: 'requests/s', connections: usualConnections, to: 'pg', required: '' },
  { work: 'create', figure: 'p50', connections: 1, to: 'pg', required: '1.5 or less' },
  { work: 'change', figure: 'requests/s', connections: usualConnections, to: 'pg', required: '0.6 or more' },
  { work: 'change', figure: 'p50', connections: 1, to: 'pg', required: '' },
] as const;

const titles = {
  create: { crm: 'CRM create', prisma: 'prisma.lead.create', pg: 'pg, one insert' },
  change: { crm: 'CRM status change', prisma: '', pg: 'pg, one update' },
} as const;

interface Target {
  readonly name: 'crm' | 'prisma' | 'pg';
  readonly service: Program;
  readonly databaseUrl: string;
  readonly load: Pick<LoadOptions, 'path' | 'headers' | 'campaignCode'>;
  readonly owner: { readonly workspaceId: string; readonly userId: string; readonly campaignId: string };
}

/**
 * Measures creates and status changes over the CRM's API with 64 connections and with one, in turn with one statement for
 * each request. The table of the references has a primary key and one index only.
 */
export async function measureCrmAtLoad(bench: Bench) {
  await using resources = new DisposeStack();
  const targets = await startTargets(bench, resources);
  const subjects = (['create', 'change'] as const).flatMap((work) =>
    targets
      .filter(({ name }) => work === 'create' || name !== 'prisma')
      .flatMap((target) => [usualConnections, 1].map((connections) => ({ work, target, connections }))),
  );
  const measured = await measureInTurn(subjects, bench.rounds, (subject) => measure(bench, subject));
  const roundsOf = (work: string, name: string, connections: number) =>
    measured[
      subjects.findIndex(
        (each) => each.work === work && each.target.name === name && each.connections === connections,
      )
    ] ?? [];
  return {
    figures: subjects.map(({ work, target, connections }, at) =>
      figuresOf(titles[work][target.name], connections, measured[at] ?? []),
    ),
    /** The ratio is the median of the ratios of each round. */
    ratios: requirements.map(({ work, figure, connections, to, required }) => {
      const [crm, reference] = [roundsOf(work, 'crm', connections), roundsOf(work, to, connections)];
      const found =
        figure === 'p50'
          ? medianRatio(
              crm.map(({ p50Ms }) => p50Ms),
              reference.map(({ p50Ms }) => p50Ms),
            )
          : medianRatio(ratesOf(crm), ratesOf(reference));
      return { ratio: `${titles[work].crm}, ${figure}`, to: titles[work][to], connections, found, required };
    }),
  };
}

function figuresOf(
  target: string,
  connections: number,
  rounds: readonly Awaited<ReturnType<typeof measure>>[],
) {
  return {
    target,
    connections,
    ...summarizeLoads(rounds),
    serviceUsPerRequest: median(rounds.map(({ serviceUs }) => serviceUs)),
    postgresUsPerRequest: median(rounds.map(({ postgresUs }) => postgresUs)),
  };
}

async function startTargets(bench: Bench, resources: DisposeStack): Promise<Target[]> {
  const databaseUrl = await bench.createDatabase('crm_at_load');
  const headers = await createOwner(databaseUrl);
  const service = resources.use(await startProgram('crm', { databaseUrl }));
  const [owner] = await query<Target['owner']>(
    databaseUrl,
    `SELECT workspace_id AS "workspaceId", user_id AS "userId", campaign.id AS "campaignId"
     FROM campaign JOIN member USING (workspace_id) WHERE is_default`,
  );
  if (owner === undefined) throw new Error('The workspace has no default campaign');
  const load = { path: crmLeadsPath, headers, campaignCode: 'default' };
  const targets: Target[] = [{ name: 'crm', service, databaseUrl, load, owner }];
  for (const name of ['prisma', 'pg'] as const) {
    const reference = resources.use(
      await startIntakeReference(bench, name, { databaseName: `${name}_of_crm`, indexes: 'one' }),
    );
    targets.push({
      name,
      service: reference.service,
      databaseUrl: reference.databaseUrl ?? '',
      load: { path: submitPath, headers: {} },
      owner: referenceOwner,
    });
  }
  return targets;
}

async function measure(
  bench: Bench,
  { work, target, connections }: { work: 'create' | 'change'; target: Target; connections: number },
) {
  const { postgres, load, peakLoad, durationMs } = bench;
  const { service, databaseUrl, owner } = target;
  await removeLeads(databaseUrl);
  const options: LoadOptions = {
    ...target.load,
    ...(work === 'change' && { changedLeadIds: await addLeads(databaseUrl, owner, changedLeads(bench)) }),
    port: service.port,
    connections,
    durationMs,
  };
  await checkpoint(postgres);
  await load.send({ ...options, durationMs: warmUpMs(bench) });
  if (work === 'change') await query(databaseUrl, `UPDATE lead SET status = 'OnHold'`);
  const { result, processorUs } = await withProcessorTime({ service, postgres }, () =>
    peakLoad.send(options),
  );
  const sent = assertAll200(result);
  const requests = sent.statuses['200'] ?? 0;
  return {
    ...sent,
    serviceUs: processorUs.service / requests,
    postgresUs: processorUs.postgres / requests,
  };
}

/** Adds the leads whose status changes. @returns their ids. */
async function addLeads(databaseUrl: string, owner: Target['owner'], count: number): Promise<string[]> {
  const rows = await query<{ id: string }>(
    databaseUrl,
    `INSERT INTO lead (id, workspace_id, user_id, campaign_id, source, status, name, phone, version, words, created_at, updated_at)
     SELECT gen_random_uuid(), $1, $2, $3, 'crm', 'OnHold', 'Ada Lovelace ' || n, '+1 202 555 0143', 1,
       ARRAY['ada', 'lovelace', n::text], now(), now()
     FROM generate_series(1, $4::int) AS n RETURNING id`,
    [owner.workspaceId, owner.userId, owner.campaignId, count],
  );
  return rows.map(({ id }) => id);
}

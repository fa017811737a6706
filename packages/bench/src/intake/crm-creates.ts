import { assertAll200, ratesOf, summarizeLoads } from '../load/load-process.ts';
import { crmLeadsPath, submitPath } from '../load/requests.ts';
import { createOwner } from '../stack/credentials.ts';
import { checkpoint, removeLeads } from '../stack/database.ts';
import { startProgram } from '../stack/programs.ts';
import { measureInTurn, medianRatio } from '../statistics.ts';
import type { Bench } from './bench.ts';
import { startIntakeReference } from './targets.ts';

/**
 * Measures creates over the CRM's API, one at a time, alternating with one `prisma.lead.create` for each
 * request.
 */
export async function measureCrmCreates(bench: Bench) {
  const { postgres, createDatabase, load, rounds, durationMs } = bench;
  const databaseUrl = await createDatabase('crm');
  const headers = await createOwner(databaseUrl);
  await using crm = await startProgram('crm', { databaseUrl });
  await using reference = await startIntakeReference(bench, 'prisma', { databaseName: 'crm_prisma' });
  const targets = [
    { port: crm.port, path: crmLeadsPath, headers },
    { port: reference.service.port, path: submitPath, headers: {} },
  ];
  const [creates = [], prisma = []] = await measureInTurn(targets, rounds, async (target) => {
    await removeLeads(databaseUrl);
    await removeLeads(reference.databaseUrl ?? '');
    await checkpoint(postgres);
    return assertAll200(await load.send({ ...target, connections: 1, durationMs, campaignCode: 'default' }));
  });
  return {
    /** The CRM's rate as a multiple of the reference's. */
    ratio: medianRatio(ratesOf(creates), ratesOf(prisma)),
    creates: [
      { target: 'CRM', ...summarizeLoads(creates) },
      { target: 'prisma.lead.create', ...summarizeLoads(prisma) },
    ],
  };
}

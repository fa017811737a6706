import { median } from '../statistics.ts';
import { issueCredentials, startCrm } from '../list/crm-process.ts';
import { leadPath } from './lead-requests.ts';
import { countOthers, type LeadLoadFigures } from './load.ts';
import type { Bench } from './measure.ts';
import { createOwner, startReference } from './service.ts';

export interface CrmFigures {
  /** One create after the other, in milliseconds. */
  readonly createP50Ms: number;
  readonly prismaP50Ms: number;
  /** The rate of the CRM's create as a multiple of one `prisma.lead.create` per request: the median of the rounds' own. */
  readonly ratio: number;
}

const campaignCode = 'default';

/** Creates over the CRM, one at a time, in turn with what one would write first. */
export async function measureCrm({ cluster, load, options, onProgress }: Bench): Promise<CrmFigures> {
  await using database = await cluster.createDatabase('crm');
  await using plain = await cluster.createDatabase('crm_prisma');
  await plain.simplify();
  const headers = await issueCredentials(database.url, await createOwner(database.url));
  await using crm = await startCrm(database.url, ['service']);
  await using reference = await startReference('prisma', plain.url);
  const usual = { connections: 1, durationMs: options.seconds * 1000, campaignCode };
  const targets = {
    crm: { ...usual, port: crm.port, path: '/api/v1/order/leads', headers },
    prisma: { ...usual, port: reference.port, path: leadPath, headers: {} },
  };
  const rounds: { crm: LeadLoadFigures; prisma: LeadLoadFigures }[] = [];
  // The first round warms up and counts for nothing.
  for (let round = -1; round < options.rounds; round++) {
    const order = round % 2 === 0 ? (['crm', 'prisma'] as const) : (['prisma', 'crm'] as const);
    const measured: Partial<Record<'crm' | 'prisma', LeadLoadFigures>> = {};
    for (const each of order) {
      await cluster.checkpoint();
      measured[each] = await load.send(targets[each]);
      if (countOthers(measured[each]) > 0) {
        throw new Error(`${each} answers ${JSON.stringify(measured[each].statuses)}`);
      }
    }
    await database.empty();
    await plain.empty();
    if (round >= 0) rounds.push(measured as { crm: LeadLoadFigures; prisma: LeadLoadFigures });
  }
  onProgress(`  creates of the CRM, ${rounds.length} rounds`);
  return {
    createP50Ms: median(rounds.map((round) => round.crm.p50Ms)),
    prismaP50Ms: median(rounds.map((round) => round.prisma.p50Ms)),
    ratio: median(rounds.map((round) => round.crm.requestsPerSecond / round.prisma.requestsPerSecond)),
  };
}

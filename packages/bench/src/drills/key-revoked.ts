import { setTimeout as sleep } from 'node:timers/promises';
import { generateApiKey } from '@leads/core/credential';
import { runLeads } from '@leads/local-stack/processes/services';
import { ownerEmail } from '../intake/service.ts';
import type { Drill, Scenario } from './drill.ts';
import { submitLead } from './single-lead.ts';

/** How long a revoked key is tried: without NATS it may be good for 10 s. */
const triedMs = 12_000;
const everyMs = 20;

/** Keys are revoked by the operator's command line; then a new instance of the intake starts without Postgres. */
export const revokeKeys: Omit<Scenario, 'title'> = {
  async run(drill) {
    const { stack, onProgress } = drill;
    const env = { DATABASE_URL: stack.databaseUrl, NATS_URL: stack.natsUrl };
    const operate = async (...args: string[]) =>
      (await runLeads(['key', ...args], env)) as { id: string; apiKey: string };
    const first = await operate('create', '--user', ownerEmail, '--name', 'First');
    const second = await operate('create', '--user', ownerEmail, '--name', 'Second');
    for (const { apiKey } of [first, second]) await submitLead(drill, { apiKey });

    await operate('revoke', first.id);
    const goodUp = await goodFor(drill, first.apiKey);
    await operate('revoke', second.id);
    await stack.postgres.kill();
    const goodDown = await goodFor(drill, second.apiKey);

    onProgress('  a new intake starts without Postgres');
    await stack.intake.kill();
    const startedMs = await stack.intake.start().catch(() => undefined);
    const known = startedMs === undefined ? 'none' : await submitLead(drill);
    const { apiKey: stranger } = generateApiKey();
    const unknown = startedMs === undefined ? 'none' : await submitLead(drill, { apiKey: stranger });
    const endedAt = Date.now();
    await stack.postgres.start();
    await stack.intake.start();
    return {
      endedAt,
      notes: () => [
        { name: 'a revoked key is good for', found: goodUp, asked: 'under 1000 ms' },
        { name: 'the same, Postgres away', found: goodDown, asked: 'under 1000 ms' },
        {
          name: 'a new intake is ready without Postgres',
          found: startedMs === undefined ? 'never' : `${startedMs.toFixed(0)} ms`,
          asked: 'at all',
        },
        { name: 'its answer to a known key', found: known, asked: '200' },
        { name: 'its answer to an unknown key', found: unknown, asked: '503' },
      ],
    };
  },
};

/** For how long a key that was just revoked is good: until its last lead that was acknowledged. */
async function goodFor(drill: Drill, apiKey: string): Promise<string> {
  const from = performance.now();
  let lastMs = 0;
  while (performance.now() - from < triedMs) {
    if ((await submitLead(drill, { apiKey })) === '200') lastMs = performance.now() - from;
    await sleep(everyMs);
  }
  return `${lastMs.toFixed(0)} ms`;
}

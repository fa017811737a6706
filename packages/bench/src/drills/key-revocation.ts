import { setTimeout as sleep } from 'node:timers/promises';
import { generateApiKey } from '@leads/core/credential';
import { runLeads } from '@leads/local-stack/processes/services';
import { ownerEmail, ownerWorkspace } from '../stack/credentials.ts';
import type { Drill, Scenario } from './drill.ts';
import { submitLead } from './submit-lead.ts';

/** The time in which a revoked key is tried. Without NATS it may stay valid for 10 s. */
const triedMs = { long: 12_000, short: 3_000 };
const retryMs = 50;

/**
 * Revokes keys with the command line, first with Postgres and then right before Postgres is killed. Starts an
 * intake without Postgres.
 */
export const revokeKeys: Omit<Scenario, 'title'> = {
  async run(drill) {
    const { stack, onProgress } = drill;
    const env = { DATABASE_URL: stack.databaseUrl, NATS_URL: stack.natsUrl };
    const runKey = async (...args: string[]) =>
      (await runLeads(['key', ...args, '--workspace', ownerWorkspace], env)) as {
        id: string;
        apiKey: string;
      };
    const first = await runKey('create', '--user', ownerEmail, '--name', 'First');
    const second = await runKey('create', '--user', ownerEmail, '--name', 'Second');
    for (const { apiKey } of [first, second]) await submitLead(drill, { apiKey });

    await runKey('revoke', first.id);
    const validWithPostgres = await validFor(drill, first.apiKey);
    await runKey('revoke', second.id);
    await stack.postgres.kill();
    const validWithoutPostgres = await validFor(drill, second.apiKey);

    onProgress('  a new intake starts without Postgres');
    await stack.intake.kill();
    const startedMs = await stack.intake.start().catch(() => undefined);
    const submit = async (lead: { apiKey?: string }) =>
      startedMs === undefined ? 'none' : submitLead(drill, lead);
    const knownKey = await submit({});
    const unknownKey = await submit({ apiKey: generateApiKey().apiKey });
    const endedAt = Date.now();
    await stack.postgres.start();
    await stack.intake.start();
    return {
      endedAt,
      notes: () => [
        { name: 'a revoked key stays valid for', found: validWithPostgres, required: 'under 1000 ms' },
        { name: 'the same, without Postgres', found: validWithoutPostgres, required: 'under 1000 ms' },
        {
          name: 'a new intake is ready without Postgres',
          found: startedMs === undefined ? 'never' : `${startedMs.toFixed(0)} ms`,
          required: 'at all',
        },
        { name: 'its answer to a known key', found: knownKey, required: '200' },
        { name: 'its answer to an unknown key', found: unknownKey, required: '503' },
      ],
    };
  },
};

/** Returns the time from the revocation of a key to the last acknowledged lead with that key. */
async function validFor(drill: Drill, apiKey: string): Promise<string> {
  const start = performance.now();
  const end = start + (drill.isShort ? triedMs.short : triedMs.long);
  let lastMs = 0;
  while (performance.now() < end) {
    if ((await submitLead(drill, { apiKey })) === '200') lastMs = performance.now() - start;
    await sleep(retryMs);
  }
  return `${lastMs.toFixed(0)} ms`;
}

import { setTimeout as sleep } from 'node:timers/promises';
import { withClient } from '../stack/database.ts';

const sampleMs = 5;

/** What the inserts and the approvals of leads wait for. A statement that waits for nothing uses a processor. */
const activity = `
  SELECT CASE WHEN query LIKE '%INSERT INTO lead (%' THEN 'create' WHEN query = 'COMMIT' THEN 'commit'
      WHEN query LIKE '%take_due_leads%' OR query LIKE '%WITH sent AS%' THEN 'approval' ELSE 'other' END
    || ': ' || coalesce(wait_event_type || ' ' || wait_event, 'processor') AS event
  FROM pg_stat_activity WHERE state = 'active' AND backend_type = 'client backend' AND pid <> pg_backend_pid()`;

/** Samples the activity of Postgres until it is disposed. @param counts the samples by event are added to it. */
export function sampleWaits(databaseUrl: string, counts: Map<string, number>): AsyncDisposable {
  let isStopped = false;
  const running = withClient(databaseUrl, async (client) => {
    while (!isStopped) {
      const { rows } = await client.query<{ event: string }>(activity);
      counts.set('samples', (counts.get('samples') ?? 0) + 1);
      for (const { event } of rows) counts.set(event, (counts.get(event) ?? 0) + 1);
      await sleep(sampleMs);
    }
  });
  return {
    async [Symbol.asyncDispose]() {
      isStopped = true;
      await running;
    },
  };
}

/** Returns how many statements were in each state on average, alone and during the approvals. */
export function waitFigures({ alone, during }: Record<'alone' | 'during', ReadonlyMap<string, number>>) {
  const share = (counts: ReadonlyMap<string, number>, event: string) =>
    (counts.get(event) ?? 0) / (counts.get('samples') ?? Number.NaN);
  return [...new Set([...alone.keys(), ...during.keys()])]
    .filter((event) => event !== 'samples')
    .map((event) => ({ event, alone: share(alone, event), during: share(during, event) }))
    .toSorted((a, b) => b.during - a.during);
}

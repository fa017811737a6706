import { Broker, eventStreamName } from '@leads/core/nats';
import pg from 'pg';
import type { RecordedAnswer } from './answers.ts';

/** What became of the leads that were acknowledged, and of the events of all. */
export interface Verdict {
  readonly acknowledged: number;
  /** Acknowledged, and not in the table. */
  readonly lost: number;
  /** Rows of requests that have another row, and ids that were given to two requests. */
  readonly duplicated: number;
  /** Rows, acknowledged or not. */
  readonly stored: number;
  /** Changes of leads in the table, their creation included, of which the stream has no event. */
  readonly missingEvents: number;
  /** Events that stand, for the first time, after an event of a later change of the same lead. */
  readonly disorderedEvents: number;
  /** Events that the stream has once more. */
  readonly repeatedEvents: number;
}

/**
 * Holds what was acknowledged against the table of leads and against the stream of events.
 *
 * @param answers as they were written down.
 * @throws Error where database or stream cannot be read.
 */
export async function checkPromises(
  answers: readonly RecordedAnswer[],
  { databaseUrl, natsUrl }: { databaseUrl: string; natsUrl: string },
): Promise<Verdict> {
  const acknowledged = answers.flatMap(({ id }) => id ?? []);
  const { versions, repeats } = await readTable(databaseUrl);
  const events = await readEvents(natsUrl);
  let missingEvents = 0;
  for (const [id, version] of versions) {
    const seen = events.seen.get(id) ?? 0;
    for (let each = 1; each <= version; each++) if ((seen & (1 << each)) === 0) missingEvents++;
  }
  return {
    acknowledged: acknowledged.length,
    lost: acknowledged.filter((id) => !versions.has(id)).length,
    duplicated: repeats + acknowledged.length - new Set(acknowledged).size,
    stored: versions.size,
    missingEvents,
    disorderedEvents: events.disordered,
    repeatedEvents: events.repeated,
  };
}

const pageSize = 20_000;

/** The version of each lead, and how many have a click id that another has: the load gives each its own. */
async function readTable(
  databaseUrl: string,
): Promise<{ versions: ReadonlyMap<string, number>; repeats: number }> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const versions = new Map<string, number>();
    let last = '00000000-0000-0000-0000-000000000000';
    for (;;) {
      const { rows } = await client.query<{ id: string; version: number }>(
        'SELECT id, version FROM lead WHERE id > $1 ORDER BY id LIMIT $2',
        [last, pageSize],
      );
      for (const { id, version } of rows) versions.set(id, version);
      if (rows.length < pageSize) break;
      last = rows.at(-1)?.id ?? last;
    }
    const { rows } = await client.query<{ repeats: number }>(
      'SELECT (count(s1) - count(DISTINCT s1))::float8 AS repeats FROM lead',
    );
    return { versions, repeats: rows[0]?.repeats ?? 0 };
  } finally {
    await client.end();
  }
}

const patienceMs = 10_000;

/** Of each lead, which versions have an event, as bits; no lead of a drill has thirty. */
async function readEvents(
  natsUrl: string,
): Promise<{ seen: ReadonlyMap<string, number>; disordered: number; repeated: number }> {
  const seen = new Map<string, number>();
  let [disordered, repeated] = [0, 0];
  await using broker = new Broker({ url: natsUrl, name: 'leads-bench' });
  if (!(await broker.connected(patienceMs))) throw new Error('NATS does not answer, to be read');
  const { state } = await (await broker.manager()).streams.info(eventStreamName);
  if (state.messages === 0) return { seen, disordered, repeated };
  const consumer = await broker.jetStream.consumers.get(eventStreamName);
  const messages = await consumer.consume({ max_messages: 1_000 });
  for await (const message of messages) {
    const { id } = message.json<{ id: string }>();
    const lead = id.slice(0, id.lastIndexOf('.'));
    const bit = 1 << Number(id.slice(id.lastIndexOf('.') + 1));
    const before = seen.get(lead) ?? 0;
    if ((before & bit) !== 0) repeated++;
    else if (before > bit) disordered++;
    seen.set(lead, before | bit);
    if (message.seq >= state.last_seq) break;
  }
  return { seen, disordered, repeated };
}
